// Every rank of the only team applies its updates itself: a batch is asked for from memory while the one before is
// applied.
#include "stretch.hpp"

namespace hpcc {
namespace {

template <class Sequence>
class InMemory final : public Updates {
  public:
    explicit InMemory(Setting const& setting)
        : setting_(setting), batches_{Batch(setting.batch), Batch(setting.batch)} {}

    Done run() override {
        Applier<Sequence> applier(setting_);
        auto stretch = stretch_of<Sequence>(setting_);
        Batch *ahead = &batches_[0], *now = &batches_[1];
        std::size_t waiting = 0;
        do {
            std::swap(ahead, now);
            std::size_t const ready = waiting;
            waiting = stretch.fill(ahead->data(), setting_.batch);
            applier.prefetch_and_apply(ahead->data(), waiting, now->data(), ready);
        } while (waiting > 0);
        return {.applied = applier.applied(), .at_end = ended(setting_, stretch)};
    }

  private:
    using Batch = std::vector<Word>;

    Setting setting_;
    Batch batches_[2];
};

}  // namespace

std::unique_ptr<Updates> in_memory(Setting const& setting) {
    if (setting.congruential) return std::make_unique<InMemory<sequences::Congruential>>(setting);
    return std::make_unique<InMemory<sequences::Polynomial>>(setting);
}

}  // namespace hpcc
