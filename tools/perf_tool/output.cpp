#include "output.hpp"

#include "transport/matrix_report.hpp"

#include <iostream>
#include <stdexcept>

namespace telegate::perf {

void Output::add_options(CLI::App& app) {
    json_ = app.add_option("--json", path_, "JSON, to a file or else to stdout")->expected(0, 1);
}

void Output::open() {
    if (path_.empty()) {
        return;
    }
    file_.open(path_);
    if (!file_) {
        throw std::runtime_error("cannot write " + path_);
    }
}

void Output::write(const Command::Result& result) {
    const auto* const matrix = std::get_if<Matrix>(&result);
    if (json_->count() > 0) {
        std::ostream& out = path_.empty() ? std::cout : file_;
        matrix != nullptr ? print_matrix_json(out, *matrix) : print_json(out, std::get<Report>(result));
        if (path_.empty()) {
            return;
        }
        file_.close();
        if (!file_) {
            throw std::runtime_error("cannot write all of " + path_);
        }
    }
    matrix != nullptr ? print_matrix_text(std::cout, *matrix) : print_text(std::cout, std::get<Report>(result));
}

}  // namespace telegate::perf
