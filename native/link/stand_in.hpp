// Replacement of ssh for launchers on an emulated link.
#pragma once

#include <span>
#include <string>

namespace octant::link {

inline constexpr char hosts_variable[] = "OCTANT_LINK_HOSTS";  // "PID HOSTS" of the octant-link that made the network

// Executes the command of the launcher on the requested host. Throws Refusal.
[[noreturn]] void run_as_ssh(std::string const& where, std::span<char*> words);

// Becomes a program, with this process' environment. Throws Refusal.
[[noreturn]] void become(char* const* words);

}  // namespace octant::link
