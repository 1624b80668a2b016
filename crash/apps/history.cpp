#include "crash/apps/history.h"

#include <array>

#include "base/little_endian.h"

namespace flashlab {

namespace {

constexpr std::string_view head = "FLASHLAB HISTORY 1\n";
constexpr std::size_t fixed_bytes = 1 + 6 * 8 + 4 + 3 * 4;

} // namespace

std::string history_head() { return std::string{head}; }

void append_record(std::string& to, const Operation& operation) {
    std::array<std::byte, fixed_bytes> fixed{};
    LittleEndianWriter writer{fixed};
    writer.u8(static_cast<std::uint8_t>(operation.act));
    for (const std::uint64_t word : {operation.at_ms, operation.ino, operation.parent, operation.to_parent, operation.offset, operation.bytes})
        writer.u64(word);
    writer.u32(operation.mode);
    for (const std::string* text : {&operation.name, &operation.to_name, &operation.data}) writer.u32(static_cast<std::uint32_t>(text->size()));
    to.append(reinterpret_cast<const char*>(fixed.data()), fixed.size());
    for (const std::string* text : {&operation.name, &operation.to_name, &operation.data}) to += *text;
}

std::expected<std::vector<Operation>, std::string> read_history(std::string_view text) {
    if (!text.starts_with(head)) return std::unexpected("is no recorded history");
    text.remove_prefix(head.size());
    std::vector<Operation> history;
    while (text.size() >= fixed_bytes) {
        LittleEndianReader reader{std::as_bytes(std::span{text.data(), fixed_bytes})};
        Operation operation;
        const std::uint8_t act = reader.u8();
        if (act > static_cast<std::uint8_t>(Act::promise)) return std::unexpected("has a record of a kind that this version does not know");
        operation.act = static_cast<Act>(act);
        for (std::uint64_t* word : {&operation.at_ms, &operation.ino, &operation.parent, &operation.to_parent, &operation.offset, &operation.bytes})
            *word = reader.u64();
        operation.mode = reader.u32();
        std::array<std::size_t, 3> lengths{};
        for (std::size_t& length : lengths) length = reader.u32();
        text.remove_prefix(fixed_bytes);
        if (text.size() < lengths[0] + lengths[1] + lengths[2]) break;
        std::size_t i = 0;
        for (std::string* field : {&operation.name, &operation.to_name, &operation.data}) {
            field->assign(text.substr(0, lengths[i]));
            text.remove_prefix(lengths[i++]);
        }
        history.push_back(std::move(operation));
    }
    return history;
}

} // namespace flashlab
