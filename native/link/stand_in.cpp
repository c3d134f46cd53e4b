#include "stand_in.hpp"

#include "bind/start.hpp"
#include "network.hpp"
#include "octant/failure.hpp"
#include "words.hpp"

#include <sys/prctl.h>

#include <cstdlib>
#include <sstream>
#include <vector>

namespace octant::link {

void become(char* const* words) {
    throw Refusal("cannot start '" + std::string(words[0]) + "' (" + bind::start(words).reason +
                  "); try its full path");
}

void run_as_ssh(std::string const& where, std::span<char*> words) {
    int owner = 0;
    std::size_t hosts = 0;
    std::istringstream(where) >> owner >> hosts;
    Order const order = parse_order(words, hosts);
    Command command = read_line(order.line);
    enter(owner, order.host, hosts);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);  // ranks need no rights over networks
    for (auto const& [name, value] : command.variables) setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> all;
    for (auto& word : command.words) all.push_back(word.data());
    all.push_back(nullptr);
    become(all.data());
}

}  // namespace octant::link
