// Spells each line of stdin as Java does, and writes spellings for each as `name`, tab, spelling; then an empty line.
import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.util.*;

public class Spell {
    public static void main(String[] given) throws Exception {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String text; (text = in.readLine()) != null; out.println()) {
            Properties properties = new Properties();
            properties.setProperty("pw", text);
            ByteArrayOutputStream stored = new ByteArrayOutputStream();
            properties.store(stored, null);
            String[] lines = stored.toString(StandardCharsets.ISO_8859_1).split("\n");
            Base64.Encoder url = Base64.getUrlEncoder();
            out.println("java URLEncoder\t" + URLEncoder.encode(text, StandardCharsets.UTF_8));
            out.println("java URLEncoder latin-1\t" + URLEncoder.encode(text, StandardCharsets.ISO_8859_1));
            out.println("java URI\t" + new URI("http", "shop.example", "/" + text, text, text));
            out.println("java URI ascii\t" + new URI("http", "shop.example", "/", text, null).toASCIIString());
            out.println("java Properties\t" + lines[lines.length - 1]);
            byte[] mail = ("x".repeat(50) + text + "y".repeat(50)).getBytes(StandardCharsets.UTF_8);
            String lines76 = Base64.getMimeEncoder().encodeToString(mail);
            out.println("java base64 in lines of json\t\"" + lines76.replace("\r\n", "\\r\\n") + "\"");
            out.println("java base64\t" + url.encodeToString(("ana:" + text).getBytes(StandardCharsets.UTF_8)));
        }
    }
}
