"""Doxygen's input filter: a public header, as it stands, with its comments in Doxygen's form, on standard output.

The headers say what a member is in a plain comment behind it or above it; Doxygen reads such comments only
with its own marks. The inline namespace v1 is a matter of the binary interface, and readers never write it.
Lines keep their numbers, so that Doxygen's warnings name the right ones.
"""

import re
import sys

MEMBER = re.compile(r"^(?P<code>\s*[^/\s}#].*?[;,{}]|\s+\w+,?)\s+// (?P<text>.*)$")  # code, then a comment
CONTINUED = re.compile(r"^(?P<indent>\s{20,})// (?P<text>.*)$")  # more of such a comment
ABOVE = re.compile(r"^(?P<indent>\s+)// (?P<text>.*)$")  # a comment on a line of its own
CONSTANTS = re.compile(r"typedef int32_t (?P<name>\w+);\nenum \{")  # of a C header: a type, then its values
SECTION = re.compile(r"/\* -{20,}\n \* (?P<title>[^.:\n]*)(?P<rest>(?:.|\n)*?)\*/")  # of a C header


def filtered_cpp(text):
    behind = False  # the line before ended in a member's comment
    for line in text.splitlines():
        line = re.sub(r"\s*// NOLINT\S*(?::.*)?$", "", line)
        line = line.replace("namespace lanky::inline v1", "namespace lanky")
        member, continued, above = MEMBER.match(line), CONTINUED.match(line), ABOVE.match(line)
        if member:
            line = f"{member['code']}  ///< {member['text']}"
        elif behind and continued:
            line = f"{continued['indent']}///< {continued['text']}"
        elif above:
            line = f"{above['indent']}/// {above['text']}"
        behind = bool(member) or (behind and bool(continued))
        yield line + "\n"


def filtered_c(text):
    """Comments of a C header, but for the one at its head, become Doxygen's, and its sections groups.

    The constants of a type of integers are shown as an enumeration of that name.
    """
    head, mark, rest = text.partition("*/")
    rest = CONSTANTS.sub(r"\nenum \g<name> {", rest)
    rest = re.sub(r"(?P<code>[;,])(?P<space>[ \t]*)/\* ", r"\g<code>\g<space>/**< ", rest)
    rest = re.sub(r"(?P<code>= \d+)(?P<space>[ \t]+)/\* ", r"\g<code>\g<space>/**< ", rest)
    sections = list(SECTION.finditer(rest))
    rest = re.sub(r"^(?P<indent>\s*)/\* (?!-{20})", r"\g<indent>/** ", rest, flags=re.MULTILINE)
    rest = SECTION.sub(lambda m: f"/** @}} */ /** @name {m['title']}\n *{m['rest'].lstrip('.:')} @{{ */", rest)
    if sections:
        rest = rest.replace("/** @} */ ", "", 1)
        before, last, behind = rest.rpartition("#ifdef __cplusplus")
        rest = before.rstrip("\n") + " /** @} */\n" + "\n" * (len(before) - len(before.rstrip("\n")) - 1) + last + behind
    return head + mark + rest


def main(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    sys.stdout.write(filtered_c(text) if path.endswith(".h") else "".join(filtered_cpp(text)))


if __name__ == "__main__":
    main(sys.argv[1])
