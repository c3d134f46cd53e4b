// Recorded files of a system, gone with their owner.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace octant {

class Tree {  // of fake system files
  public:
    Tree() {
        std::string name = std::filesystem::temp_directory_path() / "octant-tree-XXXXXX";
        root_ = mkdtemp(name.data());
    }
    Tree(Tree const&) = delete;
    Tree& operator=(Tree const&) = delete;
    ~Tree() { std::filesystem::remove_all(root_); }
    void write(std::string const& path, std::string const& text) const {
        std::filesystem::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text << '\n';
    }
    [[nodiscard]] std::string root() const { return root_.string(); }

  private:
    std::filesystem::path root_;
};

}  // namespace octant
