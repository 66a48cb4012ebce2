// A call must throw one lanky::Error of a given code whose message is one line and holds the
// values.
#pragma once

#include <gtest/gtest.h>

#include <lanky/error.hpp>
#include <string>
#include <vector>

namespace lanky {

template <class Call>
void expect_error(Call&& call, ErrorCode code, const std::vector<std::string>& fragments) {
  try {
    call();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.code(), code) << to_string(error.code()) << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    for (const std::string& fragment : fragments) {
      EXPECT_NE(message.find(fragment), std::string::npos)
          << "\"" << fragment << "\" is not in: " << message;
    }
    return;
  }
  ADD_FAILURE() << "no Error was thrown; expected " << to_string(code);
}

}  // namespace lanky
