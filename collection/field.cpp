#include "collection/field.hpp"

#include <algorithm>

#include "collection/spelling.hpp"

namespace lanky::collection {

namespace {

double ratio(double part, double whole) {
  return whole == 0 ? 0 : part / whole;
}

double density(const Entry& e) {
  return ratio(static_cast<double>(e.nnz),
               static_cast<double>(e.rows) * static_cast<double>(e.cols));
}

bool is_square(const Entry& e) {
  return e.rows == e.cols;
}

const std::vector<NumberField>& number_fields() {
  static const std::vector<NumberField> fields = {
      {{"id"}, [](const Entry& e) { return static_cast<double>(e.id); }},
      {{"rows", "nrows", "m"}, [](const Entry& e) { return static_cast<double>(e.rows); }},
      {{"cols", "ncols", "n"}, [](const Entry& e) { return static_cast<double>(e.cols); }},
      {{"nnz"}, [](const Entry& e) { return static_cast<double>(e.nnz); }},
      {{"entries"}, [](const Entry& e) { return static_cast<double>(e.entries); }},
      {{"psym"}, [](const Entry& e) { return e.psym; }},
      {{"nsym"}, [](const Entry& e) { return e.nsym; }},
      {{"density"}, density},
      {{"per_row"}, [](const Entry& e) {
         return ratio(static_cast<double>(e.nnz), static_cast<double>(e.rows));
       }}};
  return fields;
}

const std::vector<TextField>& text_fields() {
  static const std::vector<TextField> fields = {
      {{"group"}, [](const Entry& e) -> const std::string& { return e.group; }},
      {{"name"}, [](const Entry& e) -> const std::string& { return e.name; }},
      {{"kind"}, [](const Entry& e) -> const std::string& { return e.kind; }}};
  return fields;
}

const std::vector<FlagField>& flag_fields() {
  static const std::vector<FlagField> fields = {
      {{"real", "isreal"}, [](const Entry& e) { return e.real; }},
      {{"binary", "isbinary"}, [](const Entry& e) { return e.binary; }},
      {{"nd", "isnd"}, [](const Entry& e) { return e.nd; }},
      {{"posdef", "spd"}, [](const Entry& e) { return e.posdef; }},
      {{"square"}, is_square},
      {{"rectangular"}, [](const Entry& e) { return !is_square(e); }},
      {{"symmetric"}, [](const Entry& e) { return is_square(e) && e.nsym == 1; }}};
  return fields;
}

template <class Field>
const Field* find(const std::vector<Field>& fields, std::string_view name) {
  const std::string lower = lowered(name);
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const Field& field) {
    return std::find(field.names.begin(), field.names.end(), lower) != field.names.end();
  });
  return found == fields.end() ? nullptr : &*found;
}

template <class Field>
void append_names(std::vector<std::string>& names, const std::vector<Field>& fields) {
  for (const Field& field : fields)
    names.insert(names.end(), field.names.begin(), field.names.end());
}

}  // namespace

const NumberField* number_field(std::string_view name) {
  return find(number_fields(), name);
}
const TextField* text_field(std::string_view name) {
  return find(text_fields(), name);
}
const FlagField* flag_field(std::string_view name) {
  return find(flag_fields(), name);
}

std::vector<std::string> field_names() {
  std::vector<std::string> names;
  append_names(names, number_fields());
  append_names(names, text_fields());
  append_names(names, flag_fields());
  return names;
}

}  // namespace lanky::collection
