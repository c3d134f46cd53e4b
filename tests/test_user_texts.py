"""The list of all texts that users can see is up to date; reviewers read it from beginning to end."""

import user_texts


def test_the_list_of_texts_is_up_to_date() -> None:
    wrong = (
        "run `.venv/bin/python tests/support/user_texts.py` and read the changes of tests/data/user-visible-texts.txt"
    )
    assert user_texts.collect() == user_texts.LISTED.read_text(encoding="utf-8"), wrong
