"""Doxygen's input filter: a public header on standard output, with its comments in Doxygen's form.

The headers say what a member is in a plain comment behind it or above it; Doxygen reads such
comments only with its own marks. The inline namespace v1 is a matter of the binary interface, and
readers never write it. Lines keep their numbers, so that Doxygen's warnings name the right ones.
"""

import re
import sys

# Code with a comment behind it; more of such a comment; a comment on a line of its own.
MEMBER = re.compile(r"^(?P<code>\s*[^/\s}#].*?[;,{}]|\s+\w+,?)\s+// (?P<text>.*)$")
CONTINUED = re.compile(r"^(?P<indent>\s{20,})// (?P<text>.*)$")
ABOVE = re.compile(r"^(?P<indent>\s+)// (?P<text>.*)$")
# In C headers: a type with its values behind it; the heading of a section.
CONSTANTS = re.compile(r"typedef int32_t (?P<name>\w+);\nenum \{")
SECTION = re.compile(r"/\* -{20,}\n \* (?P<title>[^.:\n]*)(?P<rest>(?:.|\n)*?)\*/")


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
    """Comments of a C header, but for the one at its head, become Doxygen's, its sections groups.

    The constants of a type of integers are shown as an enumeration of that name.
    """
    head, mark, rest = text.partition("*/")
    rest = CONSTANTS.sub(r"\nenum \g<name> {", rest)
    rest = re.sub(r"(?P<code>[;,])(?P<space>[ \t]*)/\* ", r"\g<code>\g<space>/**< ", rest)
    rest = re.sub(r"(?P<code>= \d+)(?P<space>[ \t]+)/\* ", r"\g<code>\g<space>/**< ", rest)
    sections = list(SECTION.finditer(rest))
    rest = re.sub(r"^(?P<indent>\s*)/\* (?!-{20})", r"\g<indent>/** ", rest, flags=re.MULTILINE)
    rest = SECTION.sub(
        lambda m: f"/** @}} */ /** @name {m['title']}\n *{m['rest'].lstrip('.:')} @{{ */", rest)
    if sections:
        rest = rest.replace("/** @} */ ", "", 1)
        before, last, behind = rest.rpartition("\n#ifdef __cplusplus")
        rest = f"{before} /** @}} */{last}{behind}"
    return head + mark + rest


def main(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    sys.stdout.write(filtered_c(text) if path.endswith(".h") else "".join(filtered_cpp(text)))


if __name__ == "__main__":
    main(sys.argv[1])
