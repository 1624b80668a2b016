/// A belief of a program, and the models in which it does not hold.
#pragma once

#include <set>
#include <sstream>

#include "tests/apps/recorded_program.h"

namespace flashlab::test {

inline constexpr std::size_t page = page_bytes;

/// The models, by name, in which the belief does not hold.
inline void breaks_in(const std::string& names, const RecordedProgram& program, const Check& belief) {
    std::istringstream list{names};
    std::set<std::string> expected;
    for (std::string name; list >> name;) expected.insert(name);
    for (const std::string model : all_models) {
        CAPTURE(model);
        CHECK(first_failure(program, model, belief).has_value() == expected.contains(model));
    }
}

/// A file `name` with this content, durable.
inline std::uint64_t prepare(RecordedProgram& p, const std::string& name, const std::string& content) {
    const auto file = p.create(name);
    if (!content.empty()) p.append(file, content);
    return file;
}

} // namespace flashlab::test
