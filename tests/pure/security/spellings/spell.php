<?php
// Spells each text of a JSON list on stdin as PHP does, and writes a JSON object of spellings for each, one a line.
foreach (json_decode(file_get_contents("php://stdin")) as $text) {
    $form = http_build_query(["user" => "ana", "password" => $text]);
    echo json_encode([
        "php urlencode" => urlencode($text),
        "php rawurlencode" => rawurlencode($text),
        "php http_build_query" => $form,
        "php json_encode" => json_encode(["pw" => $text]),
        "php htmlspecialchars" => "<input value='" . htmlspecialchars($text) . "'>",
        "php htmlentities" => htmlentities($text),
        "php addslashes" => "'" . addslashes($text) . "'",
        "php base64 of a form" => base64_encode($form),
        "php base64 in lines" => chunk_split(base64_encode(str_repeat("x", 50) . $text . str_repeat("y", 50))),
        "php latin-1 urlencode" => urlencode(@utf8_decode($text)),
    ]), "\n";
}
