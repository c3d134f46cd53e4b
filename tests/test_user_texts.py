"""The list of all texts that users can see is up to date; reviewers read it from beginning to end."""

import cpp_texts
import user_texts


def test_the_list_of_texts_is_up_to_date() -> None:
    wrong = (
        "run `.venv/bin/python tests/support/user_texts.py` and read the changes of tests/data/user-visible-texts.txt"
    )
    assert user_texts.collect() == user_texts.LISTED.read_text(encoding="utf-8"), wrong


def test_literals_of_a_cpp_expression_are_one_text() -> None:
    source = r"""
        #include "octant/kernel.hpp"  // "no text"
        extern "C" { int main(); }
        void f() {
            throw Refusal("cannot read " + std::string(path) + " (" + std::to_string(size) + " B"
                          " needed); try '" + joined(names, " or ") + "\n'", Exit::wrong_word);
            std::cerr << "octant: " << error.what() << '\n';
            return done ? "all files written" : "no space in " + folder;
            refuse(std::string("no rank (") + (count == 1 ? "there is one" : "there are " + text) + ")" +
                   (n > 1 ? "" : ", yet"));
            asm volatile("mov %0, r1" : "+r"(x));
        }
    """
    found = [" ".join(text.split()) for text in cpp_texts.texts_of(source)]
    assert found == [
        "C",
        "cannot read {path} ({size} B needed); try '{…} '",
        "or",
        "octant: {error.what()}{'\\n'}",
        "all files written",
        "no space in {folder}",
        "no rank ({there is one | there are {text}}){, yet}",
    ]
