#include "line_bench.hpp"

#include <string>
#include <string_view>

namespace telegate {
namespace {

using test::LineBench;

/// Adds $ and checksum to a body such as "GPHDT,1,T".
std::string sentence(std::string_view body) {
    unsigned sum = 0;
    for (const char byte : body) {
        sum ^= static_cast<unsigned char>(byte);
    }
    constexpr std::string_view digits = "0123456789ABCDEF";
    return "$" + std::string(body) + '*' + digits[sum / 16] + digits[sum % 16];
}

LineFormat nmea(bool checksum_required = false) {
    return {.kind = LineFormat::Kind::nmea, .checksum_required = checksum_required};
}

TEST_CASE("each sentence gives its fields, in UCUM units", "[device][lines][nmea]") {
    auto [body, fields] = GENERATE(table<std::string, std::string>({
        {"GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,",
         "gga.time=\"12:35:19\" gga.latitude=48.1173[deg] gga.longitude=11.5166667[deg] gga.quality=1[1] "
         "gga.satellites=8[1] gga.hdop=0.9[1] gga.altitude=545.4[m] gga.geoid_separation=46.9[m]"},
        {"GNGGA,001043.00,4404.14036,S,12118.85961,W,2,12,0.98,1113,M,-21.3,M,3.0,0120",
         "gga.time=\"00:10:43.00\" gga.latitude=-44.069006[deg] gga.longitude=-121.314327[deg] gga.quality=2[1] "
         "gga.satellites=12[1] gga.hdop=0.98[1] gga.altitude=1113.[m] gga.geoid_separation=-21.3[m]"},
        {"GPRMC,225446,A,4916.45,N,12311.12,W,000.5,054.7,191194,020.3,E",
         "rmc.time=\"22:54:46\" rmc.valid=true rmc.latitude=49.2741667[deg] rmc.longitude=-123.185333[deg] "
         "rmc.speed=0.257222222[m/s] rmc.course=54.7[deg] rmc.date=\"1994-11-19\" rmc.variation=20.3[deg]"},
        {"GPVTG,054.7,T,034.4,M,005.5,N,010.2,K",
         "vtg.course=54.7[deg] vtg.course_magnetic=34.4[deg] vtg.speed=2.82944444[m/s]"},
        {"GPVTG,,T,,M,,N,36,K,A", "vtg.course=-[deg] vtg.course_magnetic=-[deg] vtg.speed=10.[m/s]"},
        {"GPGLL,4916.45,N,12311.12,W,225444,A",
         "gll.latitude=49.2741667[deg] gll.longitude=-123.185333[deg] gll.time=\"22:54:44\" gll.valid=true"},
        {"GNGSA,A,3,04,05,,09,12,,,24,,,,,2.5,1.3,2.1",
         "gsa.mode=\"A\" gsa.fix=3[1] gsa.pdop=2.5[1] gsa.hdop=1.3[1] gsa.vdop=2.1[1]"},
        {"GLGSV,2,1,08,01,40,083,46", "gsv.GL.in_view=8[1]"},
        {"GLGSV,2,2,08,01,40,083,46", ""},
        {"HEHDT,274.07,T", "hdt.heading=274.07[deg]"},
        {"HCHDM,91,M", "hdm.heading=91.[deg]"},
        {"HCHDG,98.3,0.0,E,12.6,W", "hdg.heading=98.3[deg] hdg.deviation=0.[deg] hdg.variation=-12.6[deg]"},
        {"TIROT,-3.2,A", "rot.rate=-3.2[deg/min]"},
        {"SDDBT,7.8,f,2.4,M,1.3,F", "dbt.depth=2.4[m]"},
        {"SDDBT,10,f,,M,,F", "dbt.depth=3.048[m]"},
        {"SDDPT,2.4,-0.5", "dpt.depth=2.4[m] dpt.offset=-0.5[m]"},
        {"YXMTW,17.75,C", "mtw.temperature=17.75[Cel]"},
        {"VWVHW,,T,,M,6.0,N,,K", "vhw.heading=-[deg] vhw.heading_magnetic=-[deg] vhw.speed=3.08666667[m/s]"},
        {"WIMWV,214.8,R,3.6,K,A", "mwv.relative.angle=214.8[deg] mwv.relative.speed=1.[m/s]"},
        {"WIMWV,0,T,5,M,A", "mwv.true.angle=0.[deg] mwv.true.speed=5.[m/s]"},
        {"WIMWV,0,T,10,N,A", "mwv.true.angle=0.[deg] mwv.true.speed=5.14444444[m/s]"},
        {"WIMWV,0,T,10,S,A", "mwv.true.angle=0.[deg] mwv.true.speed=4.4704[m/s]"},
        {"GPZDA,201530.00,04,07,2002,00,00", "zda.time=\"20:15:30.00\" zda.date=\"2002-07-04\""},
    }));
    CAPTURE(body);
    LineBench parse(nmea());
    CHECK(parse(sentence(body)) == fields);
}

TEST_CASE("fields that a sentence marks as not valid have no value", "[device][lines][nmea]") {
    LineBench parse(nmea());
    CHECK(parse(sentence("GPRMC,225446,V,4916.45,N,12311.12,W,1,2,191124,,")) ==
          "rmc.time=\"22:54:46\" rmc.valid=false rmc.latitude=-[deg] rmc.longitude=-[deg] rmc.speed=-[m/s] "
          "rmc.course=-[deg] rmc.date=\"2024-11-19\" rmc.variation=-[deg]");
    CHECK(parse(sentence("GPGGA,,,,,,0,00,99.9,,,,,,")) ==
          "gga.time=- gga.latitude=-[deg] gga.longitude=-[deg] gga.quality=0[1] gga.satellites=0[1] gga.hdop=-[1] "
          "gga.altitude=-[m] gga.geoid_separation=-[m]");
    CHECK(parse(sentence("WIMWV,0,T,5,M,V")) == "mwv.true.angle=-[deg] mwv.true.speed=-[m/s]");
    CHECK(parse(sentence("GPZDA,,,,,,")) == "zda.time=- zda.date=-");
}

TEST_CASE("a checksum is verified if present, and can be required", "[device][lines][nmea]") {
    LineBench parse(nmea());
    LineBench strict(nmea(true));
    CHECK(parse("$HEHDT,274.07,T*19") == "hdt.heading=274.07[deg]");
    CHECK(parse("$HEHDT,274.07,T") == "hdt.heading=274.07[deg]");
    CHECK(strict("$HEHDT,274.07,T*19") == "hdt.heading=274.07[deg]");
    CHECK(strict("$HEHDT,274.07,T") == "refused: no checksum in \"HEHDT,274.07,T\"");
    CHECK(parse("$HEHDT,275.07,T*19") == "refused: wrong checksum in \"HEHDT\": \"19\"; expected 18");
    for (const auto* line : {"$HEHDT,274.07,T*", "$HEHDT,274.07,T*9", "$HEHDT,274.07,T*019", "$HEHDT,274.07,T*0x",
                             "$HEHDT,274.07,T*19 x", "$HEHDT,274.07,T*+9"}) {
        CHECK(parse.refuses(line));
    }
    CHECK(parse("$GPGLL,4916.45,N,12311.12,W,225444,A*31").starts_with("gll.latitude=49.27"));
    CHECK(parse("$hehdt,1,t*0a").starts_with("refused"));
}

TEST_CASE("any other sentence with a valid checksum is ignored", "[device][lines][nmea]") {
    LineBench parse(nmea());
    for (const auto* body : {"GPXTE,A,A,0.67,L,N", "PGRME,15.0,M,45.0,M,25.0,M", "PUBX,00", "CCGPQ,GGA", "GP,1"}) {
        CHECK(parse(sentence(body)) == "ignored");
    }
    CHECK(parse("!AIVDM,1,1,,B,177KQJ5000G?tO`K>RA1wUbN0TKH,0*5C") == "ignored");
    CHECK(parse("\\s:r003669961,c:1120959341*7B\\$HEHDT,274.07,T*19") == "hdt.heading=274.07[deg]");
    CHECK(parse.refuses(sentence("GPXTE,A") + "0"));
}

TEST_CASE("an invalid sentence is refused", "[device][lines][nmea]") {
    LineBench parse(nmea());
    CHECK(parse("hello") == "refused: no $ or ! at the start of \"hello\"");
    CHECK(parse("\\s:x") == "refused: no $ or ! at the start of \"\\s:x\"");
    CHECK(parse("\\") == "refused: no $ or ! at the start of \"\\\"");
    CHECK(parse("$") == "refused: no address in \"$\"");
    CHECK(parse("$" + std::string(64, ',')) == "refused: more than 64 fields in \"" + std::string(40, ',') + "\"");
    CHECK(parse("$GPGGA,1") == "refused: fewer than 12 fields in \"GPGGA\"");
    CHECK(parse("$GPGSV,1") == "refused: fewer than 4 fields in \"GPGSV\"");
    CHECK(parse("$WIMWV,0,X,5,M,A") == "refused: unknown variant of \"WIMWV\"");
}

TEST_CASE("a malformed field has no value and does not affect other fields", "[device][lines][nmea]") {
    LineBench parse(nmea());
    CHECK(parse("$HEHDT,north,T") == "hdt.heading=-[deg]");
    CHECK(parse(sentence("GLGSV,2,1,many,01,40,083,46")) == "gsv.GL.in_view=-[1]");
    // From a Motorola T805, with a variation without direction.
    CHECK(parse(sentence("GPRMC,225446,A,4916.45,N,12311.12,W,000.5,054.7,181207,0,A")) ==
          "rmc.time=\"22:54:46\" rmc.valid=true rmc.latitude=49.2741667[deg] rmc.longitude=-123.185333[deg] "
          "rmc.speed=0.257222222[m/s] rmc.course=54.7[deg] rmc.date=\"2007-12-18\" rmc.variation=-[deg]");
}

TEST_CASE("positions, times and dates that are out of range have no value", "[device][lines][nmea]") {
    LineBench parse(nmea());
    const auto lacks = [&](const std::string& line, const std::string& field) {
        return parse(line).find(field + "=-") != std::string::npos;
    };
    for (const auto* latitude :
         {"9000.001,N", "4860.0,N", "48,N", "-4807.0,N", "4807.0,X", "4807.0,", "4807.0.0,N", "48x7.0,N", ".5,N"}) {
        CAPTURE(latitude);
        CHECK(lacks("$GPGLL," + std::string(latitude) + ",00000,E,225444,A", "gll.latitude"));
    }
    for (const auto* longitude : {"18000.001,E", "00000,N"}) {
        CAPTURE(longitude);
        CHECK(lacks("$GPGLL,4807.0,N," + std::string(longitude) + ",225444,A", "gll.longitude"));
    }
    for (const auto* time : {"245959", "236059", "235961", "23595", "2359590", "235959.x", "-35959", "2"}) {
        CAPTURE(time);
        CHECK(lacks("$GPZDA," + std::string(time) + ",01,01,2024", "zda.time"));
    }
    for (const auto* date : {"32,01,2024", "00,01,2024", "01,13,2024", "1,01,2024", "01,01,24", "01,,2024"}) {
        CAPTURE(date);
        CHECK(lacks("$GPZDA,000000," + std::string(date), "zda.date"));
    }
    for (const auto* date : {"010124x", "01012", "320124", "xx0124", "0101\xC3\xBC"}) {
        CAPTURE(date);
        CHECK(lacks("$GPRMC,225446,A,,,,,,," + std::string(date) + ",,", "rmc.date"));
    }
    CHECK(parse("$GPZDA,235960,31,12,2016") == "zda.time=\"23:59:60\" zda.date=\"2016-12-31\"");
}

}  // namespace
}  // namespace telegate
