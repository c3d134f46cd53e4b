// Start-up cost of MPI: MPI_Init, the first message to every other rank, memory, MPI sessions.
#include "octant/kernel.hpp"
#include "contacts.hpp"
#include "octant/mpi_features.hpp"

#include <array>

namespace {

std::vector<double> first_contacts(octant::Comm const& world, octant::Knobs const& knobs) {
    return startup::contacts_of(world, static_cast<std::size_t>(knobs.integer("bytes")), knobs.integer("exchanges"))
        .as_numbers();
}

class FirstMessages {
  public:
    enum Readings : std::size_t { first, steady, late, resident, per_peer };

    static octant::KernelInfo info() {
        return {.knobs = startup::knobs(),
                .pace = octant::Pace::whole,
                .sync = octant::Sync::none,
                .readings = {{"first", "s"}, {"steady", "s"}, {"late", "s"}, {"resident", "B"}, {"per peer", "B"}},
                .min_ranks = 2,
                .defaults = {{"samples", "20"}}};
    }

    explicit FirstMessages(octant::Context& context)
        : context_(context), found_(startup::Contacts::of_numbers(context.after_init)) {
        if (context.group.size() != context.world.size() || found_.bytes != context.knobs.integer("bytes"))
            throw octant::Refusal(
                "cannot measure the first message twice in a launch; use groups=all and one value per knob",
                octant::Exit::not_supported);
    }

    // The first repetition records the values that were measured after MPI_Init. Each repetition sends another message
    // to every other rank.
    void step() {
        if (!is_recorded_) record_contacts();
        is_recorded_ = true;
        startup::exchange_with_all(context_.group, static_cast<std::size_t>(found_.bytes), nullptr, false);
    }

    [[nodiscard]] octant::Counts work(std::size_t) const {
        std::int64_t const messages = context_.group.size() - 1;
        return {{"messages", messages}, {"bytes_sent", messages * found_.bytes}};
    }

    octant::Results verify() {
        octant::Mismatch wrong;
        startup::exchange_with_all(context_.group, static_cast<std::size_t>(found_.bytes), &wrong, spoilt_);
        if (found_.wrong > 0) wrong.add("rank " + std::to_string(context_.group.rank()) + ", a first message");
        return {{"wrong bytes received", wrong.count(), "1", 0, wrong.where()}};
    }
    void corrupt(std::size_t) { spoilt_ = true; }

  private:
    void record_contacts() {
        for (startup::Contact const& one : found_.met) {
            context_.record(first, one.first_s);
            context_.record(steady, one.steady_s);
            context_.record(late, one.late_s);
        }
        auto const grown = static_cast<double>(found_.resident_after - found_.resident_before);
        context_.record(resident, static_cast<double>(found_.resident_before));
        context_.record(per_peer, grown / (context_.world.size() - 1));
    }

    octant::Context& context_;
    startup::Contacts found_;
    bool is_recorded_ = false;
    bool spoilt_ = false;
};

#if OCTANT_HAS_SESSIONS
class Sessions {
  public:
    enum Phases : std::size_t { init, communicator, finalize };

    static octant::KernelInfo info() {
        return {.knobs = startup::knobs(),
                .pace = octant::Pace::steps,
                .sync = octant::Sync::none,
                .phases = {"init", "communicator", "finalize"},
                .blocks = true,
                .defaults = {{"samples", "20"}}};
    }
    explicit Sessions(octant::Context& context) : context_(context) {}

    void step() { static_cast<void>(one_session(false)); }
    [[nodiscard]] octant::Counts work(std::size_t) const { return {{"sessions", 1}}; }

    octant::Results verify() {
        std::int64_t const ranks = context_.world.size();
        double const off = static_cast<double>(one_session(true) + (spoilt_ ? 1 : 0) - ranks * (ranks + 1) / 2);
        return {{"difference from the sum over the ranks of a session", off < 0 ? -off : off, "1", 0}};
    }
    void corrupt(std::size_t) { spoilt_ = true; }

  private:
    // Returns, if `adds`, the sum of rank + 1 over the ranks of the session.
    std::int64_t one_session(bool adds) {
        MPI_Session session = MPI_SESSION_NULL;
        MPI_Comm comm = MPI_COMM_NULL;
        std::int64_t sum = context_.world.rank() + 1;
        {
            auto const mark = context_.phase(init);
            octant::check(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
        }
        {
            auto const mark = context_.phase(communicator);
            MPI_Group group = MPI_GROUP_NULL;
            octant::check(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
            octant::check(MPI_Comm_create_from_group(group, "octant", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
            octant::check(MPI_Group_free(&group));
        }
        if (adds) octant::check(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, comm));
        auto const mark = context_.phase(finalize);
        octant::check(MPI_Comm_free(&comm));
        octant::check(MPI_Session_finalize(&session));
        return sum;
    }

    octant::Context& context_;
    bool spoilt_ = false;
};
#else
class Sessions {
  public:
    static octant::KernelInfo info() {
        return {.knobs = startup::knobs(),
                .pace = octant::Pace::steps,
                .sync = octant::Sync::none,
                .defaults = {{"samples", "20"}}};
    }
    explicit Sessions(octant::Context&) { throw octant::not_in_library("MPI_Session_init"); }
    void step() {}
    [[nodiscard]] octant::Counts work(std::size_t) const { return {}; }
    [[nodiscard]] octant::Results verify() const { return {}; }
    void corrupt(std::size_t) {}
};
#endif

}  // namespace

int main(int argc, char** argv) {
    return octant::run_program(
        argc, argv,
        {"pattern", {octant::row<FirstMessages>("first"), octant::row<Sessions>("sessions")}, &first_contacts});
}
