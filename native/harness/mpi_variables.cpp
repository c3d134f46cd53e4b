#include "octant/mpi_variables.hpp"

#include "octant/mpi.hpp"

#include <array>
#include <cstdlib>
#include <sstream>

namespace octant {

#ifdef OCTANT_NO_MPI_T  // simulated libraries have no control variables

MpiVariables::MpiVariables() = default;
MpiVariables::~MpiVariables() = default;
std::vector<MpiVariable> MpiVariables::all() const { return {}; }
std::optional<MpiVariable> MpiVariables::of(std::string const&) const { return {}; }

#else

namespace {

constexpr int longest_text = 4096;

template <class Value>
std::string read_number(MPI_T_cvar_handle handle, int count) {
    std::vector<Value> values(static_cast<std::size_t>(count));
    if (count < 1 || MPI_T_cvar_read(handle, values.data()) != MPI_SUCCESS) return {};
    std::ostringstream text;
    text << values.front();
    return text.str();
}

std::string read_truth(MPI_T_cvar_handle handle, int count) {
    bool truth = false;
    if (count != 1 || MPI_T_cvar_read(handle, &truth) != MPI_SUCCESS) return {};
    return truth ? "1" : "0";
}

std::string read_text(MPI_T_cvar_handle handle, int count) {
    if (count < 1 || count > longest_text) return {};
    std::string text(longest_text + 1, '\0');
    return MPI_T_cvar_read(handle, text.data()) == MPI_SUCCESS ? std::string(text.c_str()) : std::string();
}

void read_value(MpiVariable& variable, int index, MPI_Datatype type) {
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int count = 0;
    if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) return;
    if (type == MPI_INT) variable.value = read_number<int>(handle, count);
    if (type == MPI_UNSIGNED) variable.value = read_number<unsigned>(handle, count);
    if (type == MPI_UNSIGNED_LONG) variable.value = read_number<unsigned long>(handle, count);
    if (type == MPI_UNSIGNED_LONG_LONG) variable.value = read_number<unsigned long long>(handle, count);
    if (type == MPI_COUNT) variable.value = read_number<MPI_Count>(handle, count);
    if (type == MPI_DOUBLE) variable.value = read_number<double>(handle, count);
    if (type == MPI_C_BOOL) variable.value = read_truth(handle, count);
    if (type == MPI_CHAR) variable.value = read_text(handle, count);
    variable.type = type == MPI_CHAR ? "text" : type == MPI_DOUBLE ? "real" : variable.value.empty() ? "" : "integer";
    MPI_T_cvar_handle_free(&handle);
}

void read_words(MpiVariable& variable, MPI_T_enum words) {
    std::array<char, 256> name{};
    int number = 0, length = name.size();
    if (words == MPI_T_ENUM_NULL || MPI_T_enum_get_info(words, &number, name.data(), &length) != MPI_SUCCESS) return;
    for (int item = 0; item < number; ++item) {
        std::array<char, 256> text{};
        int value = 0, room = text.size();
        if (MPI_T_enum_get_item(words, item, &value, text.data(), &room) != MPI_SUCCESS) continue;
        variable.words.emplace_back(text.data());
        if (std::to_string(value) == variable.value) variable.word = text.data();
    }
}

// MPICH enumerates in the description alone: lines of the form `ring - Force ring algorithm`, from value 0 on.
void read_described_words(MpiVariable& variable, std::string const& description) {
    std::istringstream lines(description);
    for (std::string line; std::getline(lines, line);) {
        auto const end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_");
        auto const dash = end == 0 || end == std::string::npos ? end : line.find_first_not_of(' ', end);
        if (end != 0 && dash != std::string::npos && dash > end && line.compare(dash, 2, "- ") == 0)
            variable.words.push_back(line.substr(0, end));
    }
    if (!variable.words.empty() && variable.words.front() == "true") variable.words.clear();  // a truth, not counted up
    for (std::size_t value = 0; value < variable.words.size(); ++value)
        if (std::to_string(value) == variable.value) variable.word = variable.words[value];
}

std::optional<MpiVariable> variable_at(int index) {
    std::array<char, 256> name{};
    std::string description(1 << 14, '\0');
    int length = name.size(), detail = 1 << 14, verbosity = 0, bound = MPI_T_BIND_NO_OBJECT, scope = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum words = MPI_T_ENUM_NULL;
    if (MPI_T_cvar_get_info(index, name.data(), &length, &verbosity, &type, &words, description.data(), &detail, &bound,
                            &scope) != MPI_SUCCESS)
        return {};
    MpiVariable variable{name.data(), "", ""};
    if (bound == MPI_T_BIND_NO_OBJECT) read_value(variable, index, type);
    read_words(variable, words);
    if (variable.words.empty() && variable.type == "integer") read_described_words(variable, description.c_str());
    return variable;
}

}  // namespace

MpiVariables::MpiVariables() {
    int provided = 0;
    check(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
}

MpiVariables::~MpiVariables() { MPI_T_finalize(); }

std::vector<MpiVariable> MpiVariables::all() const {
    int number = 0;
    check(MPI_T_cvar_get_num(&number));
    std::vector<MpiVariable> found;
    for (int index = 0; index < number; ++index)
        if (auto variable = variable_at(index)) found.push_back(std::move(*variable));
    return found;
}

std::optional<MpiVariable> MpiVariables::of(std::string const& environment_name) const {
    static constexpr std::pair<char const*, char const*> prefixes[] = {
        {"MPIR_CVAR_", "MPIR_CVAR_"}, {"OMPI_MCA_", ""}, {"I_MPI_", "MPIR_CVAR_INTEL_"}};
    for (auto const& [ours, theirs] : prefixes) {
        if (!environment_name.starts_with(ours)) continue;
        int index = 0;
        std::string const name = theirs + environment_name.substr(std::string(ours).size());
        if (MPI_T_cvar_get_index(name.c_str(), &index) == MPI_SUCCESS) return variable_at(index);
    }
    return {};
}

#endif

std::vector<std::pair<std::string, std::vector<std::string>>> settings_in_force() {
    char const* const named = std::getenv("OCTANT_MPI_SETTINGS");
    if (named == nullptr || *named == '\0') return {};
    bool const reads_text = Session::library().starts_with("Open MPI");
    std::vector<std::pair<std::string, std::vector<std::string>>> found;
    MpiVariables const variables;
    std::istringstream names(named);
    for (std::string name; std::getline(names, name, ',');) {
        auto const variable = variables.of(name);
        if (!variable || variable->type.empty() || (variable->type == "text" && !reads_text)) continue;
        std::vector<std::string> spellings = {variable->value};
        if (!variable->word.empty()) spellings.push_back(variable->word);
        found.emplace_back(name, spellings);
    }
    return found;
}

}  // namespace octant
