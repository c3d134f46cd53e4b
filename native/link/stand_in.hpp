// What a launcher on an emulated link starts instead of ssh.
#pragma once

#include <span>
#include <string>

namespace octant::link {

inline constexpr char hosts_variable[] = "OCTANT_LINK_HOSTS";  // "PID HOSTS" of the octant-link that made the network

// Becomes the program that the launcher wants on the host that it names. Throws Refusal.
[[noreturn]] void stand_in(std::string const& where, std::span<char*> words);

// Becomes a program, with this process' environment. Throws Refusal.
[[noreturn]] void become(char* const* words);

}  // namespace octant::link
