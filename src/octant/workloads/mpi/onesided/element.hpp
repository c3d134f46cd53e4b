// One value of an MPI type, and an operation on two of them, each by the word of its knob.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

namespace onesided {

inline std::vector<std::string> const type_words{"int64", "int32", "uint8", "float", "double"};
inline std::vector<std::string> const operation_words{"sum", "prod", "min",     "max",  "band",
                                                      "bor", "bxor", "replace", "no-op"};

// Values are small whole numbers, which every type holds exactly, given and taken as double.
class Element {
  public:
    // Throws Refusal: bits of a type that has none.
    Element(std::string const& type, std::string const& operation);

    [[nodiscard]] MPI_Datatype type() const noexcept { return type_; }
    [[nodiscard]] MPI_Op operation() const noexcept { return operation_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool real() const noexcept { return real_; }

    void store(std::byte* at, double value) const;
    [[nodiscard]] double load(std::byte const* at) const;
    // New value after an operation with `operand` on `old`; one value at a time.
    [[nodiscard]] double applied(double old, double operand) const;

  private:
    std::string type_word_, operation_word_;
    bool real_;
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
    MPI_Op operation_ = MPI_OP_NULL;
    std::size_t size_ = 1;
};

}  // namespace onesided
