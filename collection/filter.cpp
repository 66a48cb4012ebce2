#include "collection/filter.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "collection/field.hpp"
#include "collection/quantity.hpp"
#include "collection/spelling.hpp"
#include "core/text.hpp"

namespace lanky::collection {

namespace {

using Condition = Filter::Condition;

constexpr int kMostNested = 200;
constexpr std::string_view kBlank = " \t\r\n";
constexpr std::string_view kEndsWord = " \t\r\n(){},=<>!~'\"";

/// A recursive descent over the text: a function a rule of the grammar in docs/fetch.md.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Condition parse() {
    Condition condition = disjunction();
    skip_blank();
    if (place_ < text_.size())
      fail(place_, "expected \"and\", \"or\" or the end; quote text of several words");
    return condition;
  }

 private:
  [[noreturn]] static void fail(std::size_t place, const std::string& message) {
    throw FilterError(place + 1, message);
  }

  void skip_blank() { place_ = std::min(text_.find_first_not_of(kBlank, place_), text_.size()); }

  bool accept(std::string_view symbol) {
    skip_blank();
    if (!text_.substr(place_).starts_with(symbol)) return false;
    place_ += symbol.size();
    return true;
  }

  void expect(std::string_view symbol, std::string_view what) {
    if (!accept(symbol)) fail(place_, concat("expected \"", symbol, "\" ", what));
  }

  /// What stands at the place up to a blank or a symbol; it stays there.
  std::string_view peek_word() {
    skip_blank();
    const std::size_t end = std::min(text_.find_first_of(kEndsWord, place_), text_.size());
    return text_.substr(place_, end - place_);
  }

  bool accept_word(std::string_view word) {
    if (lowered(peek_word()) != word) return false;
    place_ += word.size();
    return true;
  }

  Condition disjunction() {
    Condition left = conjunction();
    while (accept_word("or")) {
      left = [a = std::move(left), b = conjunction()](const Entry& e) { return a(e) || b(e); };
    }
    return left;
  }

  Condition conjunction() {
    Condition left = negation();
    while (accept_word("and")) {
      left = [a = std::move(left), b = negation()](const Entry& e) { return a(e) && b(e); };
    }
    return left;
  }

  Condition negation() {
    skip_blank();
    if (++depth_ > kMostNested)
      fail(place_, concat("nested more than ", kMostNested, " deep; write it flatter"));
    Condition condition;
    if (accept_word("not")) {
      condition = [inner = negation()](const Entry& e) { return !inner(e); };
    } else if (accept("(")) {
      condition = disjunction();
      expect(")", "that closes the parenthesis");
    } else {
      condition = field_condition();
    }
    --depth_;
    return condition;
  }

  Condition field_condition() {
    const std::string_view name = peek_word();
    const std::size_t begin = place_;
    if (name.empty()) fail(begin, "expected a condition such as nnz > 1e5");
    place_ += name.size();
    if (const FlagField* flag = flag_field(name)) return flag_condition(*flag);
    if (const NumberField* number = number_field(name)) return number_condition(*number);
    if (const TextField* text = text_field(name)) return text_condition(*text);
    const std::vector<std::string> known = field_names();
    std::string hint = did_you_mean(name, known);
    if (hint.empty()) {
      for (const std::string& each : known)
        hint += (hint.empty() ? "; the fields are " : ", ") + each;
    }
    fail(begin, concat("there is no field \"", name, "\"", hint));
  }

  /// Alone, or compared with 0 or 1, as the index has it.
  Condition flag_condition(const FlagField& field) {
    const bool unequal = accept("!=");
    if (!unequal && !accept("=")) return field.value;
    const std::size_t begin = (skip_blank(), place_);
    const double value = number();
    if (value != 0 && value != 1) fail(begin, "a flag is 0 or 1");
    const bool wanted = (value == 1) != unequal;
    return [get = field.value, wanted](const Entry& e) { return get(e) == wanted; };
  }

  Condition number_condition(const NumberField& field) {
    if (accept_word("in")) return accept("{") ? number_set(field) : number_range(field);
    const auto get = field.value;
    // Longer symbols first: "<=" begins with "<".
    if (accept("!=")) return [get, b = number()](const Entry& e) { return get(e) != b; };
    if (accept("<=")) return [get, b = number()](const Entry& e) { return get(e) <= b; };
    if (accept(">=")) return [get, b = number()](const Entry& e) { return get(e) >= b; };
    if (accept("=")) return [get, b = number()](const Entry& e) { return get(e) == b; };
    if (accept("<")) return [get, b = number()](const Entry& e) { return get(e) < b; };
    if (accept(">")) return [get, b = number()](const Entry& e) { return get(e) > b; };
    fail(place_, concat(field.names.front(), " is a number: expected = != < <= > >= or \"in\""));
  }

  Condition text_condition(const TextField& field) {
    const auto get = field.value;
    if (accept_word("in")) {
      expect("{", "and words with commas between");
      return text_set(field);
    }
    if (accept("!="))
      return [get, b = text_value()](const Entry& e) { return lowered(get(e)) != b; };
    if (accept("!~")) {
      return [get, b = text_value()](const Entry& e) {
        return lowered(get(e)).find(b) == std::string::npos;
      };
    }
    if (accept("="))
      return [get, b = text_value()](const Entry& e) { return lowered(get(e)) == b; };
    if (accept("~")) {
      return [get, b = text_value()](const Entry& e) {
        return lowered(get(e)).find(b) != std::string::npos;
      };
    }
    fail(place_, concat(field.names.front(), " is text: expected = != ~ !~ or \"in {...}\""));
  }

  /// LOW..HIGH, both ends within; either may be left out.
  Condition number_range(const NumberField& field) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const std::string_view word = peek_word();
    const std::size_t begin = place_;
    const std::size_t dots = word.find("..");
    if (dots == std::string_view::npos)
      fail(begin, "expected a range such as 1e5..1e8, or a set such as {1, 2}");
    if (word == "..") fail(begin, "a range needs an end, as in 1e5.. or ..1e8");
    const double low = dots == 0 ? -kInfinity : number_of(word.substr(0, dots), begin);
    const std::string_view upper = word.substr(dots + 2);
    const double high = upper.empty() ? kInfinity : number_of(upper, begin + dots + 2);
    if (low > high) fail(begin, "the range is empty: its lower end comes first");
    place_ += word.size();
    return [get = field.value, low, high](const Entry& e) {
      const double value = get(e);
      return low <= value && value <= high;
    };
  }

  Condition number_set(const NumberField& field) {
    std::vector<double> values = set<double>([this] { return number(); });
    return [get = field.value, values = std::move(values)](const Entry& e) {
      return std::find(values.begin(), values.end(), get(e)) != values.end();
    };
  }

  Condition text_set(const TextField& field) {
    std::vector<std::string> values = set<std::string>([this] { return text_value(); });
    return [get = field.value, values = std::move(values)](const Entry& e) {
      return std::find(values.begin(), values.end(), lowered(get(e))) != values.end();
    };
  }

  template <class Value, class Read>
  std::vector<Value> set(Read read) {
    std::vector<Value> values;
    do {
      values.push_back(read());
    } while (accept(","));
    expect("}", "or a comma");
    return values;
  }

  double number() {
    const std::string_view word = peek_word();
    const double value = number_of(word, place_);
    place_ += word.size();
    return value;
  }

  static double number_of(std::string_view word, std::size_t place) {
    const std::optional<double> value = parse_quantity(word);
    if (!value) {
      fail(place, word.empty() ? "expected a number such as 1e5, 2.5M or 10k"
                               : concat("\"", word, "\" is no number such as 1e5, 2.5M or 10k"));
    }
    return *value;
  }

  /// A word, or what stands in quotes; in lower case.
  std::string text_value() {
    for (const std::string_view quote : {"'", "\""}) {
      if (accept(quote)) return quoted(quote);
    }
    const std::string_view word = peek_word();
    if (word.empty()) fail(place_, "expected text; in quotes where it has blanks or symbols");
    place_ += word.size();
    return lowered(word);
  }

  std::string quoted(std::string_view quote) {
    const std::size_t end = text_.find(quote, place_);
    if (end == std::string_view::npos) fail(place_ - 1, concat("no ", quote, " ends this text"));
    const std::string_view inside = text_.substr(place_, end - place_);
    place_ = end + 1;
    return lowered(inside);
  }

  std::string_view text_;
  std::size_t place_ = 0;
  int depth_ = 0;
};

}  // namespace

FilterError::FilterError(std::size_t column, const std::string& message)
    : Error(ErrorCode::invalid_argument, concat("column ", column, ": ", message)),
      column_(column) {}

Filter::Filter() : condition_([](const Entry&) { return true; }) {}

Filter Filter::parse(std::string_view text) {
  return Filter(Parser(text).parse());
}

std::string caret_message(std::string_view option, std::string_view text,
                          const FilterError& error) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return kBlank.find(c) != kBlank.npos; }, ' ');
  return concat(option, ": ", error.what(), "\n  ", line, "\n  ",
                std::string(error.column() - 1, ' '), "^");
}

}  // namespace lanky::collection
