#include "tools/sweep/sweep_run.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace flashlab {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 16;

std::string shown_hash(XXH64_hash_t hash) { return fmt::format("{:016x}", hash); }

} // namespace

Json SweepRun::to_json() const {
    Json words{Json::Array{}};
    for (const std::string& word : command) words.push(word);
    return Json::object({{"id", id},
                         {"load", load},
                         {"trace", trace},
                         {"trace_hash", trace_hash},
                         {"seed", seed},
                         {"parameters", parameters},
                         {"config_hash", config_hash},
                         {"version", version},
                         {"command", std::move(words)}});
}

std::expected<SweepRun, std::string> SweepRun::from_json(const Json& json) {
    SweepRun run;
    run.id = json["id"].text();
    run.load = json["load"].text();
    run.trace = json["trace"].text();
    run.trace_hash = json["trace_hash"].text();
    run.seed = json["seed"].number();
    run.parameters = json["parameters"];
    run.config_hash = json["config_hash"].text();
    run.version = json["version"].text();
    for (const Json& word : json["command"].items()) run.command.push_back(word.text());
    if (run.command.empty() || run.version.empty()) return std::unexpected(std::string{"this is no run of a sweep"});
    if (run.id != run.made_id())
        return std::unexpected(fmt::format("the run {} was changed after it was planned: plan the sweep anew instead", run.id));
    return run;
}

std::string SweepRun::made_id() const {
    std::string text = fmt::format("{}\n{}\n{}\n{}\n", version, config_hash, trace_hash, seed);
    for (const std::string& word : command)
        if (trace_hash.empty() || word != trace) text += word + '\n'; // the same trace may lie elsewhere on another machine
    return hash_text(text);
}

std::string hash_text(std::string_view bytes) { return shown_hash(XXH3_64bits(bytes.data(), bytes.size())); }

std::expected<std::string, std::string> hash_file(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) // a pipe would be read once, and be empty for the run itself
        return std::unexpected(fmt::format("{}: {}", path, error ? error.message() : "no regular file: name a file that can be read again"));
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen(path.c_str(), "rbe"), std::fclose};
    if (!file) return std::unexpected(fmt::format("{}: {}", path, std::strerror(errno)));
    const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state{XXH3_createState(), XXH3_freeState};
    XXH3_64bits_reset(state.get());
    std::string piece(piece_bytes, '\0');
    std::size_t got = 0;
    while ((got = std::fread(piece.data(), 1, piece.size(), file.get())) > 0) XXH3_64bits_update(state.get(), piece.data(), got);
    if (std::ferror(file.get()) != 0) return std::unexpected(fmt::format("{}: {}", path, std::strerror(errno)));
    return shown_hash(XXH3_64bits_digest(state.get()));
}

} // namespace flashlab
