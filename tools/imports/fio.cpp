#include "tools/imports/imported.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/ranges.h>

#include "tools/imports/fio_names.h"
#include "tools/text/fio_values.h"

namespace flashlab {

namespace {

using Kind = ImportNote::Kind;

struct FioSetting {
    std::string name, value;
    std::uint64_t line = 0, column = 0;
};
using FioSettings = std::map<std::string, FioSetting, std::less<>>; ///< by name: of each the last one counts

class FioReader {
public:
    FioReader(std::string path, Imported& out) : path_{std::move(path)}, out_{out} {}

    /// Begins a section; the job before it is complete. Those of all jobs are kept once, however many jobs and settings there are.
    [[nodiscard]] std::expected<void, std::string> begin(std::string_view section, std::uint64_t line, std::uint64_t column) {
        if (const auto done = end_job(); !done) return done;
        own_.clear();
        is_in_job_ = section != "global";
        job_ = {.name = "job", .value = std::string{section}, .line = line, .column = column};
        has_job_ = has_job_ || is_in_job_;
        return {};
    }
    [[nodiscard]] bool has_section() const { return job_.line > 0; }
    void set(FioSetting setting) {
        std::string name{fio_name(setting.name)};
        (is_in_job_ ? own_ : global_).insert_or_assign(std::move(name), std::move(setting));
    }
    [[nodiscard]] std::expected<void, std::string> end(std::uint64_t line) {
        if (!has_job_) return std::unexpected(fmt::format("{}:{}:1: no [job] in it", path_, line));
        if (const auto done = end_job(); !done) return done;
        end_group();
        for (const auto& [name, setting] : global_)
            if (!out_.loads.empty() && !asked_.contains(name)) leave_out(name, setting);
        return {};
    }

private:
    struct Part {
        std::uint64_t bytes;
        double share;           ///< of the requests
        double bytes_share = 1; ///< of the bytes
    };

    void leave_out(const std::string& name, const FioSetting& setting) { out_.note(Kind::left_out, name, setting.value, why_fio_left_out(name)); }
    [[nodiscard]] std::expected<void, std::string> end_job() {
        if (!is_in_job_) return {};
        const auto taken = take_job();
        if (!variable_.empty()) return std::unexpected(variable_); // whatever else is wrong with it
        return taken;
    }
    [[nodiscard]] std::expected<void, std::string> take_job() {
        const auto is_apart = flag("stonewall");
        if (!is_apart) return std::unexpected(is_apart.error());
        if (*is_apart) end_group();
        kb_base_ = take_out("kb_base").value_or(FioSetting{}).value == "1000" ? 1000 : 1024;
        const FioSetting rw = take_out("rw").value_or(FioSetting{.name = "rw", .value = "read"});
        pattern_ = rw.value.substr(0, rw.value.find(':'));
        if (pattern_ == "readwrite") pattern_ = "rw";
        if (rw.value.find(':') != std::string::npos)
            out_.note(Kind::left_out, "rw", rw.value, "what stands behind the colon: offsets as the pattern has them");
        if (std::ranges::find(trims_, pattern_) != trims_.end()) {
            out_.note(Kind::left_out, "job " + job_.value, rw.value, "a load of trims is not known: the job is left out");
            return {};
        }
        if (std::ranges::find(patterns_, pattern_) == patterns_.end()) return refuse(rw, fmt::format("known are {}", fmt::join(patterns_, ", ")));
        const auto done = take_queues();
        for (const auto& [name, setting] : own_) leave_out(name, setting);
        return done;
    }
    /// What was taken since the last one runs together.
    void end_group() {
        if (queues_.empty()) return;
        constexpr std::size_t longest_title = 120;
        if (title_.size() > longest_title) title_ = title_.substr(0, longest_title) + " ...";
        ImportedLoad load{.title = fmt::format("{} of {}", title_, path_), .command = {"bench"}};
        for (const std::string& queue : queues_) load.command.insert(load.command.end(), {"--queue", queue});
        if (!distribution_.empty() && is_even_somewhere_)
            out_.note(Kind::nearly, "random_distribution", distribution_,
                      "one for all that runs together: jobs of random places without one have it, too");
        if (!distribution_.empty()) load.command.insert(load.command.end(), {"--random-distribution", distribution_});
        out_.loads.push_back(std::move(load));
        queues_.clear();
        distribution_.clear();
        is_even_somewhere_ = false;
        queues_together_ = 0;
        title_.clear();
    }
    /// A whole one stays exact: what a double rounds up to 2^64 is no number of 64 bits.
    static std::uint64_t part_of(std::uint64_t whole, double share, double rounding = 0) {
        return share < 1 ? static_cast<std::uint64_t>(static_cast<double>(whole) * share + rounding) : whole;
    }
    std::optional<FioSetting> take_out(std::string_view name) {
        asked_.emplace(name);
        const auto own = own_.find(name);
        const auto global = global_.find(name);
        if (own == own_.end() && global == global_.end()) return std::nullopt;
        FioSetting setting = own == own_.end() ? global->second : std::move(own->second);
        if (own != own_.end()) own_.erase(own);
        if (variable_.empty() && setting.value.find('$') != std::string::npos)
            variable_ = fmt::format("{}:{}:{}: {}: a variable; write its value", path_, setting.line, setting.column, setting.name);
        return setting;
    }
    [[nodiscard]] std::expected<bool, std::string> flag(std::string_view name) {
        const auto setting = take_out(name);
        if (setting && setting->value != "0" && setting->value != "1") return refuse(*setting, "wanted: 0 or 1, or the name alone");
        return setting && setting->value == "1";
    }
    [[nodiscard]] std::unexpected<std::string> refuse(const FioSetting& at, const std::string& why) const {
        return std::unexpected(fmt::format("{}:{}:{}: {}={}: {}", path_, at.line, at.column, at.name, at.value, why));
    }
    [[nodiscard]] bool is_mixed() const { return pattern_.ends_with("rw"); }
    /// Of a list what is for this job's direction; a mix that has two is noted.
    [[nodiscard]] std::string_view of_direction(const FioSetting& setting) {
        const auto [reads, writes] = fio_directions(setting.value);
        if (is_mixed() && reads != writes)
            out_.note(Kind::nearly, setting.name, setting.value, fmt::format("one for reads and writes, that of reads: {}", reads));
        return pattern_.ends_with("write") ? writes : reads;
    }
    [[nodiscard]] std::expected<std::uint64_t, std::string> size_of(const FioSetting& setting, std::string_view text) const {
        const auto read = fio_size(text, kb_base_);
        if (!read) return refuse(setting, read.error());
        return *read;
    }
    [[nodiscard]] std::expected<std::optional<std::uint64_t>, std::string> number(std::string_view name) {
        const auto setting = take_out(name);
        const std::string_view text = setting ? of_direction(*setting) : std::string_view{};
        if (text.empty() && (!setting || !setting->value.empty())) return std::nullopt;
        return size_of(*setting, text);
    }
    /// size or io_size; "25%" is a share of `whole`, and is left out where nobody knows that.
    [[nodiscard]] std::expected<std::optional<std::uint64_t>, std::string> bytes_of(std::string_view name, std::optional<std::uint64_t> whole) {
        const auto setting = take_out(name);
        if (!setting) return std::nullopt;
        if (!setting->value.ends_with('%')) return size_of(*setting, setting->value);
        const auto percent = size_of(*setting, std::string_view{setting->value}.substr(0, setting->value.size() - 1));
        if (!percent || *percent == 0 || *percent > 100) return refuse(*setting, "wanted: 1% to 100%");
        if (whole) return std::max<std::uint64_t>(1, part_of(*whole, static_cast<double>(*percent) / 100));
        out_.note(Kind::left_out, setting->name, setting->value, "a share of a file, whose size a load does not know");
        return std::nullopt;
    }
    [[nodiscard]] std::expected<std::uint64_t, std::string> sectors_of(const FioSetting& setting, std::string_view text) const {
        const auto bytes = size_of(setting, text);
        if (!bytes || (*bytes > 0 && *bytes % 512 == 0)) return bytes;
        return refuse(setting, fmt::format("{} bytes: a multiple of 512 is wanted, a drive's sector", *bytes));
    }
    /// bs, or bsrange: 4k-64k.
    [[nodiscard]] std::expected<std::uint64_t, std::string> block_bytes() {
        constexpr std::uint64_t fios_own = 4096;
        const auto setting = take_out("bs");
        const std::string_view text = setting ? of_direction(*setting) : std::string_view{};
        if (text.empty() && (!setting || !setting->value.empty())) return fios_own;
        const auto dash = std::min(text.find('-'), text.size());
        const auto least = sectors_of(*setting, text.substr(0, dash));
        if (!least || dash == text.size()) return least;
        const auto most = sectors_of(*setting, text.substr(dash + 1));
        if (!most || *most == *least) return most;
        const std::uint64_t mean = std::max(*least, *least + (*most - *least) / 2 / *least * *least);
        out_.note(Kind::nearly, setting->name, setting->value, fmt::format("every request has the mean size, {} bytes", mean));
        return mean;
    }
    /// bs, or bssplit: 4k/60:64k/40.
    [[nodiscard]] std::expected<std::vector<Part>, std::string> parts_of() {
        split_.clear();
        const auto split = take_out("bssplit");
        const std::string_view list = split ? of_direction(*split) : std::string_view{};
        const auto bs = block_bytes();
        if (!split || (list.empty() && !split->value.empty())) {
            if (!bs) return std::unexpected(bs.error());
            return std::vector{Part{*bs, 1}};
        }
        const auto shares = fio_shares(list);
        if (!shares) return refuse(*split, "wanted: SIZE/PERCENT:SIZE/PERCENT, each above 0 and at most 100 together");
        std::vector<Part> parts;
        double rest = 100; // the last one has what the others leave
        for (const FioShare& one : *shares) {
            const double share = &one == &shares->back() ? rest : one.percent;
            rest -= one.percent;
            const auto bytes = sectors_of(*split, one.of);
            if (!bytes) return std::unexpected(bytes.error());
            if (share > 0) parts.push_back({*bytes, share / 100});
        }
        if (parts.size() > 1) split_ = split->value;
        double all_bytes = 0;
        for (const Part& part : parts) all_bytes += static_cast<double>(part.bytes) * part.share;
        for (Part& part : parts) part.bytes_share = static_cast<double>(part.bytes) * part.share / all_bytes;
        return parts;
    }
    [[nodiscard]] std::expected<void, std::string> take_distribution() {
        const auto setting = take_out("random_distribution");
        if (!setting || setting->value == "random") return take_even();
        std::string taken = setting->value;
        if (taken.starts_with("zoned:")) { // zoned:PERCENT_OF_ACCESSES/PERCENT_OF_SPACE:...
            const auto zones = fio_shares(std::string_view{taken}.substr(taken.find(':') + 1));
            const std::string_view first = zones ? zones->front().of : std::string_view{};
            unsigned accesses = 0;
            const auto read = std::from_chars(first.data(), first.data() + first.size(), accesses);
            if (!zones || read.ec != std::errc{} || read.ptr != first.data() + first.size() || accesses > 100 || zones->front().percent <= 0)
                return refuse(*setting, "wanted: zoned:ACCESSES/SPACE:ACCESSES/SPACE, in percent");
            taken = fmt::format("hotspot:{},{}", zones->front().percent / 100, accesses / 100.0);
            if (zones->size() > 2) out_.note(Kind::nearly, setting->name, setting->value, "two zones: " + taken);
        } else if ((taken.starts_with("zipf:") || taken.starts_with("pareto:")) && std::ranges::count(taken, ':') > 1) { // zipf:THETA:CENTER
            taken.resize(taken.rfind(':'));
            out_.note(Kind::nearly, setting->name, setting->value, "the popular ones lie anywhere: " + taken);
        } else if (!taken.starts_with("zipf:") && !taken.starts_with("pareto:")) {
            out_.note(Kind::left_out, setting->name, setting->value, "known are zipf:THETA, pareto:H and zoned");
            return {};
        } else {
            taken.insert(0, "fio-");
        }
        if (!distribution_.empty() && distribution_ != taken)
            out_.note(Kind::nearly, setting->name, setting->value, "one distribution for all that runs together: " + distribution_);
        else
            distribution_ = taken;
        return {};
    }
    /// Even random places, in fio by a map of what was visited.
    [[nodiscard]] std::expected<void, std::string> take_even() {
        if (!pattern_.starts_with("rand")) return {};
        is_even_somewhere_ = true;
        const auto has_no_map = flag("norandommap");
        if (!has_no_map) return std::unexpected(has_no_map.error());
        out_.note(*has_no_map ? Kind::taken : Kind::nearly, "norandommap", *has_no_map ? "1" : "not given",
                  *has_no_map ? "random addresses may repeat" : "fio visits each block once before any comes again; here addresses may repeat");
        return {};
    }
    /// ",runtime=30" as bench reads it. 0 is none.
    [[nodiscard]] std::expected<std::string, std::string> runtime_of() {
        const auto setting = take_out("runtime");
        if (!setting || setting->value == "0") return std::string{};
        const auto time = fio_time(setting->value);
        if (!time) return refuse(*setting, time.error());
        if (setting->value.ends_with("min"))
            out_.note(Kind::nearly, setting->name, setting->value, "minutes; fio 3.33 knows m, and takes min for microseconds");
        return ",runtime=" + *time;
    }
    /// rate or rate_iops, of the whole job: "40k" of all, "40k,10k" of reads and writes, ",10k" of writes; 0 is no limit. `share`: the part's of what
    /// it limits.
    [[nodiscard]] std::expected<std::string, std::string> rate_of(const std::optional<FioSetting>& setting, double share, const char* key) const {
        if (!setting) return std::string{};
        const auto limit_in = [&](std::string_view one) -> std::expected<std::uint64_t, std::string> {
            const auto number = one.empty() ? 0 : size_of(*setting, one);
            return !number || *number == 0 ? number : std::max<std::uint64_t>(1, part_of(*number, share));
        };
        const auto list = fio_directions(setting->value);
        const auto reads = limit_in(list.reads), writes = limit_in(list.writes);
        if (!reads || !writes) return std::unexpected(reads ? writes.error() : reads.error());
        if (is_mixed() && (*reads == 0) != (*writes == 0))
            return refuse(*setting, "a limit for reads or writes alone is not known: give both, or none");
        if (is_mixed() && *reads != *writes) return fmt::format(",{}={}:{}", key, *reads, *writes);
        const std::uint64_t limit = pattern_.ends_with("write") ? *writes : *reads;
        return limit == 0 ? std::string{} : fmt::format(",{}={}", key, limit);
    }
    /// iodepth, or 1 of an engine that has one request in flight.
    [[nodiscard]] std::expected<std::uint64_t, std::string> depth_of() {
        const auto depth = number("iodepth");
        if (!depth) return std::unexpected(depth.error());
        const auto engine = take_out("ioengine");
        if (engine) out_.note(Kind::left_out, "ioengine", engine->value, "iodepth says how many requests are in flight");
        const std::string name = engine ? engine->value : "psync";
        if (depth->value_or(1) <= 1 || !is_fio_synchronous(name.substr(0, name.find(':')))) return depth->value_or(1);
        out_.note(Kind::nearly, "iodepth", fmt::format("{}", **depth),
                  fmt::format("ioengine={} has one request in flight, and so has the load", name));
        return 1;
    }
    /// What all queues of the job have: numjobs and rwmixread.
    [[nodiscard]] std::expected<std::string, std::string> common_of(std::size_t parts) {
        const auto jobs = number("numjobs");
        if (!jobs) return std::unexpected(jobs.error());
        const std::uint64_t processes = jobs->value_or(1);
        queues_together_ += std::min<std::uint64_t>(processes, most_queues + 1) * parts;
        if (queues_together_ > most_queues)
            return refuse(job_, fmt::format("more than {} queues run together, the most that bench has: a stonewall ends a group", most_queues));
        std::string out = processes > 1 ? fmt::format(",numjobs={}", processes) : "";
        const auto mix = take_out("rwmixread");
        if (!mix || !is_mixed()) return out;
        const auto percent = size_of(*mix, mix->value);
        if (!percent || *percent > 100) return refuse(*mix, "wanted: a percentage, 0 to 100");
        return out + fmt::format(",rwmixread={}", mix->name == "rwmixwrite" ? 100 - *percent : *percent);
    }
    [[nodiscard]] std::expected<void, std::string> take_queues() {
        const auto parts = parts_of();
        if (!parts) return std::unexpected(parts.error());
        const auto file_size = bytes_of("size", std::nullopt);
        const auto io_size = bytes_of("io_size", file_size ? *file_size : std::nullopt);
        if (!file_size || !io_size) return std::unexpected(!file_size ? file_size.error() : io_size.error());
        if (const auto taken = take_distribution(); !taken) return taken;
        const auto iodepth = depth_of();
        const auto common = common_of(parts->size());
        const auto is_time_based = flag("time_based");
        const auto runtime = runtime_of();
        if (!iodepth || !is_time_based) return std::unexpected(!iodepth ? iodepth.error() : is_time_based.error());
        if (!common || !runtime) return std::unexpected(!common ? common.error() : runtime.error());
        const auto rate_setting = take_out("rate"), iops_setting = take_out("rate_iops");
        if (rate_setting && iops_setting) out_.note(Kind::left_out, "rate_iops", iops_setting->value, "rate is the limit, as it is in fio");
        const bool is_poisson = take_out("rate_process").value_or(FioSetting{}).value == "poisson";
        const bool is_endless = *is_time_based && !runtime->empty(); // the time alone ends it
        const auto bytes = *io_size ? *io_size : *file_size;
        if (*file_size)
            out_.note(Kind::nearly, "size", fmt::format("{}", **file_size),
                      fmt::format("{}; in fio the addresses stay within it, too, while a load covers the whole drive: give that this --size",
                                  is_endless ? "time_based: the time ends the load"
                                  : *io_size ? "io_size ends the load"
                                             : "as io-size"));
        if (*io_size && is_endless) out_.note(Kind::left_out, "io_size", fmt::format("{}", **io_size), "time_based: the time ends the load");
        std::uint64_t in_flight = 0;
        for (const Part& part : *parts) {
            const std::uint64_t depth = std::max<std::uint64_t>(1, part_of(*iodepth, part.share, 0.5));
            in_flight += depth;
            std::string queue = fmt::format("rw={},bs={},iodepth={}", pattern_, part.bytes, depth);
            if (runtime->empty() || (bytes && !is_endless))
                queue += fmt::format(",io-size={}", std::max(part.bytes, part_of(bytes.value_or(std::uint64_t{1} << 30), part.bytes_share)));
            queue += *runtime + *common;
            const auto rate = rate_of(rate_setting, part.bytes_share, "rate"), iops = rate_of(iops_setting, part.share, "rate-iops");
            if (!rate || !iops) return std::unexpected(rate ? iops.error() : rate.error());
            queue += rate->empty() ? *iops : *rate;
            if (is_poisson && !(rate->empty() && iops->empty())) queue += ",rate-process=poisson";
            out_.note(Kind::taken, "job " + job_.value, "", queue);
            queues_.push_back(std::move(queue));
        }
        if (!split_.empty())
            out_.note(Kind::nearly, "bssplit", split_,
                      fmt::format("a queue for each size, with its share of the depth, {} together; {}", in_flight,
                                  runtime->empty() ? "it ends with its share of the requests"
                                                   : "while the time runs each sends what it can, so that the shares of the requests are others"));
        title_ += (title_.empty() ? "job " : ", ") + job_.value;
        return {};
    }

    static constexpr std::array<std::string_view, 6> patterns_{"read", "write", "randread", "randwrite", "rw", "randrw"};
    static constexpr std::array<std::string_view, 4> trims_{"trim", "randtrim", "trimwrite", "randtrimwrite"};
    static constexpr std::uint64_t most_queues = 256; ///< of a load of bench's
    std::string path_;
    Imported& out_;
    FioSettings global_, own_;
    std::set<std::string, std::less<>> asked_; ///< names that some job had a use for
    FioSetting job_;                           ///< the section, and where it begins
    bool is_in_job_ = false, has_job_ = false;
    std::string variable_; ///< the error of a setting that is used and not known before the run
    std::string pattern_, split_;
    std::uint64_t kb_base_ = 1024, queues_together_ = 0;
    std::vector<std::string> queues_;
    std::string distribution_, title_;
    bool is_even_somewhere_ = false; ///< a job has no distribution
};

std::expected<void, std::string> read_jobs(std::string_view text, const std::string& path, FioReader& reader) {
    std::uint64_t number = 0;
    while (!text.empty()) {
        const std::string_view whole = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), whole.size() + 1));
        ++number;
        const std::string_view line = without_blanks(whole.substr(0, whole.find_first_of(";#"))); // fio cuts there, too
        if (line.empty()) continue;
        const auto column = static_cast<std::uint64_t>(line.data() - whole.data()) + 1;
        const auto fail = [&](std::string_view why) { return std::unexpected(fmt::format("{}:{}:{}: {}", path, number, column, why)); };
        if (line.front() == '[') {
            if (line.back() != ']' || line.size() < 3) return fail("a job's name is [NAME]");
            if (const auto begun = reader.begin(line.substr(1, line.size() - 2), number, column); !begun) return begun;
            continue;
        }
        const auto equals = line.find('=');
        const std::string name{without_blanks(line.substr(0, equals))};
        if (name.starts_with("include ") || name.starts_with("include\t")) return fail("include: write here what stands in that file");
        if (!reader.has_section()) return fail(name + " stands before any [job]");
        reader.set({name, equals == line.npos ? "1" : std::string{without_blanks(line.substr(equals + 1))}, number, column});
    }
    return reader.end(number);
}

} // namespace

std::expected<Imported, std::string> import_fio(const std::string& path) {
    const auto text = text_to_import(path);
    if (!text) return std::unexpected(text.error());
    Imported out;
    FioReader reader{path, out};
    if (const auto read = read_jobs(*text, path, reader); !read) return std::unexpected(read.error());
    return out;
}

} // namespace flashlab
