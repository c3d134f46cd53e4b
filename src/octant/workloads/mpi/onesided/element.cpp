#include "element.hpp"

#include "octant/failure.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace onesided {
namespace {

template <class T>
void store_as(std::byte* at, double value) {
    T const typed = static_cast<T>(value);
    std::memcpy(at, &typed, sizeof typed);
}

template <class T>
double load_as(std::byte const* at) {
    T typed;
    std::memcpy(&typed, at, sizeof typed);
    return static_cast<double>(typed);
}

struct Type {
    char const* word;
    MPI_Datatype handle;
    std::size_t size;
    void (*store)(std::byte*, double);
    double (*load)(std::byte const*);
};

// MPI's handles need not be constants.
Type type_of(std::string const& word) {
    Type const all[] = {{"int64", MPI_INT64_T, 8, store_as<std::int64_t>, load_as<std::int64_t>},
                        {"int32", MPI_INT32_T, 4, store_as<std::int32_t>, load_as<std::int32_t>},
                        {"uint8", MPI_UINT8_T, 1, store_as<std::uint8_t>, load_as<std::uint8_t>},
                        {"float", MPI_FLOAT, 4, store_as<float>, load_as<float>},
                        {"double", MPI_DOUBLE, 8, store_as<double>, load_as<double>}};
    auto const* found = std::ranges::find(all, word, &Type::word);
    octant::expects(found != std::end(all));
    return *found;
}

double bits(double a, double b, std::uint64_t (*operation)(std::uint64_t, std::uint64_t)) {
    return static_cast<double>(operation(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
}

struct Operation {
    char const* word;
    MPI_Op handle;
    double (*apply)(double, double);
};

Operation operation_of(std::string const& word) {
    using U = std::uint64_t;
    Operation const all[] = {
        {"sum", MPI_SUM, [](double a, double b) { return a + b; }},
        {"prod", MPI_PROD, [](double a, double b) { return a * b; }},
        {"min", MPI_MIN, [](double a, double b) { return std::min(a, b); }},
        {"max", MPI_MAX, [](double a, double b) { return std::max(a, b); }},
        {"band", MPI_BAND, [](double a, double b) { return bits(a, b, [](U x, U y) { return x & y; }); }},
        {"bor", MPI_BOR, [](double a, double b) { return bits(a, b, [](U x, U y) { return x | y; }); }},
        {"bxor", MPI_BXOR, [](double a, double b) { return bits(a, b, [](U x, U y) { return x ^ y; }); }},
        {"replace", MPI_REPLACE, [](double, double b) { return b; }},
        {"no-op", MPI_NO_OP, [](double a, double) { return a; }}};
    auto const* found = std::ranges::find(all, word, &Operation::word);
    octant::expects(found != std::end(all));
    return *found;
}

}  // namespace

Element::Element(std::string const& type, std::string const& operation)
    : type_word_(type), operation_word_(operation), real_(type == "float" || type == "double") {
    if (real_ && (operation == "band" || operation == "bor" || operation == "bxor"))
        throw octant::Refusal("cannot use op=" + operation + " with type=" + type +
                                  " (MPI defines bitwise operations for integers only); try type=int64",
                              octant::Exit::not_supported);
    type_ = type_of(type).handle;
    size_ = type_of(type).size;
    operation_ = operation_of(operation).handle;
}

void Element::store(std::byte* at, double value) const { type_of(type_word_).store(at, value); }

double Element::load(std::byte const* at) const { return type_of(type_word_).load(at); }

double Element::applied(double old, double operand) const {
    double const value = operation_of(operation_word_).apply(old, operand);
    if (type_word_ != "uint8") return value;
    return static_cast<double>(static_cast<std::uint8_t>(static_cast<std::uint64_t>(value)));  // it wraps
}

}  // namespace onesided
