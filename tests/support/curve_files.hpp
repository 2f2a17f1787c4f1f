#pragma once

#include "core/curve.hpp"
#include "support/scratch_dir.hpp"

#include <filesystem>
#include <string>

namespace telegate::test {

/// The files of an endpoint with CURVE: its secret key, and a folder with the public key of one client, "anna".
/// Threads: one. Limits: none. Failure: throws std::runtime_error.
struct CurveFiles {
    CurveFiles() {
        std::filesystem::create_directory(clients);
        write_server(server);
        let_in("anna", anna);
    }
    void write_server(const CurveKeyPair& keys) const {
        write_private(folder, "server.secret", to_z85(keys.secret_key));
    }
    void let_in(const std::string& name, const CurveKeyPair& keys) const {
        write_private(folder, "clients/" + name + ".public", to_z85(keys.public_key));
    }
    void shut_out(const std::string& name) const { std::filesystem::remove(clients + '/' + name + ".public"); }

    /// Returns the two settings, one line each.
    [[nodiscard]] std::string settings() const { return key_setting() + "curve_clients_dir = " + clients + '\n'; }
    [[nodiscard]] std::string key_setting() const { return "curve_secret_key_file = " + secret + '\n'; }

    ScratchDir folder;
    const std::string secret = folder.path("server.secret");
    const std::string clients = folder.path("clients");
    const CurveKeyPair server = make_curve_key_pair();
    const CurveKeyPair anna = make_curve_key_pair();
};

}  // namespace telegate::test
