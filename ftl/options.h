/// Options of schemes and policies: declared where they are read, carried by name.
///
/// Idea       Who reads an option declares it: key, range, default, help. The configuration's schema, its help, device.toml and the documentation
///            are made of the declarations that schemes and policies list. A drive's values travel in one set.
/// Invariant  A value in the set lies in its option's range: who puts it there has checked (tools/drive/config_schema.h). What is not in the set has
///            its default.
/// Cost       A search by name. Who needs a value often reads it once, when it is made.
/// Power cut  Keeps nothing; device.toml has the values.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace flashlab {

/// Until when an option may change: with the images, or at every mount.
enum class OptionPhase : std::uint8_t { mkfs, mount };

struct Option {
    std::string_view key; ///< section.name
    std::string_view help;
    OptionPhase phase = OptionPhase::mkfs;
    std::uint64_t initial = 0, min = 0, max = 0;
    bool is_size = false;      ///< bytes, which may be said as 64K
    std::string_view behind{}; ///< the key behind which it stands in device.toml; empty: behind the last one of its section
};

/// With the type of its values.
template <class T>
struct OptionOf : Option {};

/// Of one scheme or policy, in the order of the documentation.
using OptionList = std::span<const Option* const>;

class OptionSet {
public:
    [[nodiscard]] std::uint64_t number(const Option& option) const {
        const auto found = values_.find(option.key);
        return found == values_.end() ? option.initial : found->second;
    }
    template <class T>
    [[nodiscard]] T operator[](const OptionOf<T>& option) const {
        return static_cast<T>(number(option));
    }
    void put(const Option& option, std::uint64_t value) { values_.insert_or_assign(std::string{option.key}, value); }
    template <class T>
    void set(const OptionOf<T>& option, std::type_identity_t<T> value) {
        put(option, static_cast<std::uint64_t>(value));
    }

private:
    std::map<std::string, std::uint64_t, std::less<>> values_;
};

} // namespace flashlab
