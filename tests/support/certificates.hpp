#pragma once

#include "scratch_dir.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

namespace telegate::test {

/// A key pair and its certificate, in the files NAME.key (0600) and NAME.crt.
class Certificate {
  public:
    /// The certificate is signed by `issuer`, or self-signed if there is none.
    Certificate(const ScratchDir& folder, const std::string& name, const Certificate* issuer = nullptr)
        : certificate_path(folder.path(name + ".crt")),
          key_path(folder.path(name + ".key")),
          key_(::EVP_EC_gen("P-256"), &::EVP_PKEY_free),
          certificate_(::X509_new(), &::X509_free) {
        constexpr long day_s = 86'400;
        ::X509_set_version(certificate_.get(), 2);
        ::ASN1_INTEGER_set(::X509_get_serialNumber(certificate_.get()), 1);
        ::X509_gmtime_adj(::X509_getm_notBefore(certificate_.get()), -day_s);
        ::X509_gmtime_adj(::X509_getm_notAfter(certificate_.get()), day_s);
        ::X509_set_pubkey(certificate_.get(), key_.get());
        X509_NAME* const subject = ::X509_get_subject_name(certificate_.get());
        const void* const bytes = name.c_str();
        ::X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, static_cast<const unsigned char*>(bytes), -1, -1, 0);
        if (issuer == nullptr) {
            allow_to_sign();
        }
        const Certificate& signer = issuer != nullptr ? *issuer : *this;
        ::X509_set_issuer_name(certificate_.get(), ::X509_get_subject_name(signer.certificate_.get()));
        if (::X509_sign(certificate_.get(), signer.key_.get(), ::EVP_sha256()) == 0) {
            throw std::runtime_error("cannot sign a certificate");
        }
        write();
    }

    const std::string certificate_path;
    const std::string key_path;

  private:
    using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

    void allow_to_sign() {
        const std::unique_ptr<X509_EXTENSION, decltype(&::X509_EXTENSION_free)> constraint(
            ::X509V3_EXT_conf_nid(nullptr, nullptr, NID_basic_constraints, "critical,CA:TRUE"), &::X509_EXTENSION_free);
        ::X509_add_ext(certificate_.get(), constraint.get(), -1);
    }

    void write() const {
        const File certificate(std::fopen(certificate_path.c_str(), "w"), &std::fclose);
        const File key(std::fopen(key_path.c_str(), "w"), &std::fclose);
        ::chmod(key_path.c_str(), 0600);
        if (!certificate || !key || ::PEM_write_X509(certificate.get(), certificate_.get()) != 1 ||
            ::PEM_write_PrivateKey(key.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1) {
            throw std::runtime_error("cannot write " + certificate_path);
        }
    }

    std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)> key_;
    std::unique_ptr<X509, decltype(&::X509_free)> certificate_;
};

}  // namespace telegate::test
