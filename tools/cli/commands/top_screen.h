/// The screen of `flashlab top`: 80 x 24 and larger.
///
/// Idea       Lines of text are made first, for a given size; curses only puts them on the screen. So the layout is tested without a terminal.
/// Invariant  No line is longer than the screen is wide, and there are no more lines than rows. The terminal is as it was when the object goes.
/// Cost       A few kilobytes of text a second.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/text/json.h"

namespace flashlab {

/// `about`: the answer to info. `sample`: tools/live/mount_sample.h. `blocks`: tools/drive/block_report.h.
[[nodiscard]] std::vector<std::string> top_lines(const std::string& mount_point, const Json& about, const Json& sample, const Json& blocks,
                                                 std::size_t columns, std::size_t rows);

class TopScreen {
public:
    /// Null: the terminal is of a kind that nobody knows here (TERM).
    [[nodiscard]] static std::unique_ptr<TopScreen> make();
    ~TopScreen();
    TopScreen(const TopScreen&) = delete;
    TopScreen& operator=(const TopScreen&) = delete;

    [[nodiscard]] std::size_t columns() const;
    [[nodiscard]] std::size_t rows() const;
    void show(const std::vector<std::string>& lines);
    /// Waits so long at most. False: the user wants to go (q).
    [[nodiscard]] bool wait(double seconds);

private:
    explicit TopScreen(void* terminal) : terminal_{terminal} {}
    void* terminal_; ///< curses' SCREEN
};

} // namespace flashlab
