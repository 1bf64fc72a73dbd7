-- A journal as version 0.1.0 left it. `ago` is a time before now in s, `filled` puts the site's and the directory's
-- names in, and `sealed` encrypts too.

CREATE TABLE migrations (name TEXT PRIMARY KEY);
CREATE TABLE pages (page_id TEXT PRIMARY KEY, session_id TEXT NOT NULL, state TEXT NOT NULL, kept_at REAL NOT NULL DEFAULT 0);
CREATE TABLE session_states (session_id TEXT PRIMARY KEY, sealed BLOB NOT NULL);
CREATE TABLE artifacts (artifact_id TEXT PRIMARY KEY, client_id TEXT NOT NULL, mime_type TEXT NOT NULL, size INTEGER NOT NULL, made_at REAL NOT NULL, path TEXT NOT NULL DEFAULT '');
CREATE TABLE sessions (session_id TEXT PRIMARY KEY, sealed BLOB NOT NULL);
CREATE TABLE saved_states (session_id TEXT NOT NULL, name TEXT NOT NULL, sealed BLOB NOT NULL, PRIMARY KEY (session_id, name));
CREATE TABLE earlier_states (session_id TEXT NOT NULL, kept_at REAL NOT NULL, readable INTEGER NOT NULL, sealed BLOB NOT NULL);
CREATE TABLE closed_pages (page_id TEXT PRIMARY KEY, record TEXT NOT NULL);
CREATE TABLE revoked (kind TEXT NOT NULL, value TEXT NOT NULL, at REAL NOT NULL, UNIQUE (kind, value));
CREATE TABLE activity (id INTEGER PRIMARY KEY, at REAL NOT NULL, client_id TEXT NOT NULL, label TEXT NOT NULL, private_to TEXT, page_id TEXT, session_id TEXT, action TEXT NOT NULL, outcome TEXT NOT NULL, ms INTEGER NOT NULL, call_id TEXT NOT NULL, detail TEXT NOT NULL);
CREATE TABLE downloads (download_id TEXT PRIMARY KEY, at REAL NOT NULL, state TEXT NOT NULL);

INSERT INTO migrations VALUES ('m001_pages_states_artifacts');
INSERT INTO migrations VALUES ('m003_sessions');
INSERT INTO migrations VALUES ('m_earlier_states');
INSERT INTO migrations VALUES ('m_closed_pages');
INSERT INTO migrations VALUES ('m_artifact_paths');
INSERT INTO migrations VALUES ('m_revoked');
INSERT INTO migrations VALUES ('m_activity');
INSERT INTO migrations VALUES ('m_downloads');

INSERT INTO pages VALUES ('cart', 'default', filled('{"pageId":"cart","sessionId":"default","url":"{site}/cart","title":"Shop /cart","revision":6,"holderId":"chat-ana","holderLabel":"Claude · shop","holderAgent":"","actedAgoMs":0,"idleMs":250,"untouched":false,"parked":null,"openerId":null,"leftBy":"","leftById":null,"ofPerson":false,"access":"read","holdReason":"waiting for a code","holdLeftMs":14390158,"targetId":"B46ED4176B210C21DA61C2211072217F","dialog":null,"person":{"requestId":"ask-08893c94","kind":"code","origin":"{site}","message":"Please type the code","choices":[],"pageId":"cart","sessionId":"default","askedBy":"Claude · shop","joinedBy":[],"askedAgoMs":0,"link":""},"askerId":"chat-ana"}'), ago(2));
INSERT INTO pages VALUES ('mail', 'default', filled('{"pageId":"mail","sessionId":"default","url":"{site}/mail","title":"Shop /mail","revision":2,"holderId":"chat-ben","holderLabel":"Codex","holderAgent":"","actedAgoMs":838,"idleMs":219,"untouched":false,"parked":null,"openerId":null,"leftBy":"","leftById":null,"ofPerson":false,"access":"read","holdReason":"","holdLeftMs":null,"targetId":"3A7A6F34463A645D8360F637699CA17D","dialog":null,"person":null,"askerId":null}'), ago(11));
INSERT INTO pages VALUES ('desk', 'work', filled('{"pageId":"desk","sessionId":"work","url":"{site}/desk","title":"Shop /desk","revision":5,"holderId":"chat-ana","holderLabel":"Claude · shop","holderAgent":"","actedAgoMs":0,"idleMs":0,"untouched":false,"parked":null,"openerId":null,"leftBy":"","leftById":null,"ofPerson":false,"access":"private","holdReason":"","holdLeftMs":null,"targetId":"A6F7A36229B77931471701055B96E146","dialog":null,"person":null,"askerId":null}'), ago(8));
INSERT INTO pages VALUES ('drive', 'default', filled('{"pageId":"drive","sessionId":"default","url":"{site}/drive","title":"Shop /drive","revision":2,"holderId":"chat-ben","holderLabel":"Codex","holderAgent":"","actedAgoMs":0,"idleMs":0,"untouched":false,"parked":null,"openerId":null,"leftBy":"","leftById":null,"ofPerson":false,"access":"act","holdReason":"","holdLeftMs":null,"targetId":"D4D04A38C54AB50D4A85C14A8FFB8BB9","dialog":null,"person":null,"askerId":null}'), ago(7));
INSERT INTO pages VALUES ('passing', 'brief', filled('{"pageId":"passing","sessionId":"brief","url":"{site}/x","title":"Shop /x","revision":1,"holderId":"chat-ana","holderLabel":"Claude · shop","holderAgent":"","actedAgoMs":1236,"idleMs":241,"untouched":false,"parked":null,"openerId":null,"leftBy":"","leftById":null,"ofPerson":false,"access":"read","holdReason":"","holdLeftMs":null,"targetId":"1C62662A8A52A92F9A4D32ECE43F030B","dialog":null,"person":null,"askerId":null}'), ago(5));

INSERT INTO session_states VALUES ('default', sealed('{"cookies": [{"name": "shop", "value": "ana", "domain": "127.0.0.1", "path": "/", "expires": "ago -31535987", "httpOnly": false, "secure": false, "sameSite": "Lax"}, {"name": "brief", "value": "1", "domain": "127.0.0.1", "path": "/", "expires": -1, "httpOnly": false, "secure": false, "sameSite": "Lax"}]}'));
INSERT INTO session_states VALUES ('work', sealed('{"cookies": [{"name": "shop", "value": "ana", "domain": "127.0.0.1", "path": "/", "expires": "ago -31535991", "httpOnly": false, "secure": false, "sameSite": "Lax"}], "origins": [{"origin": "{site}", "localStorage": [{"name": "seen", "value": "yes"}], "indexedDB": []}]}'));

INSERT INTO artifacts VALUES ('art-NBPRAYEsLcrF5B9w', 'chat-ana', 'text/csv', 8, ago(2), filled('{data}/output/list.csv'));

INSERT INTO sessions VALUES ('work', sealed('{"sessionId": "work", "owner": {"clientId": "chat-ana", "label": "Claude \u00b7 shop"}, "shared": false, "name": "Work", "userId": "ana", "persistent": true, "options": {"browserType": null, "viewport": {"width": 800, "height": 600}, "userAgent": null, "locale": "de-DE", "timezone": null, "permissions": [], "proxy": null, "ownBrowser": false, "headless": null}, "createdAt": "ago 11", "accessedAt": "ago 2", "expiresAt": "ago -31535989", "ofPage": false, "requests": 8, "errors": 0}'));
INSERT INTO sessions VALUES ('default', sealed('{"sessionId": "default", "owner": null, "shared": true, "name": null, "userId": "default", "persistent": true, "options": {"browserType": "chromium", "viewport": {"width": 1280, "height": 720}, "userAgent": null, "locale": null, "timezone": null, "permissions": [], "proxy": null, "ownBrowser": false, "headless": null}, "createdAt": "ago 23", "accessedAt": "ago 0", "expiresAt": null, "ofPage": false, "requests": 14, "errors": 1}'));

INSERT INTO saved_states VALUES ('work', 'before', sealed('{"cookies": [{"name": "shop", "value": "ana", "domain": "127.0.0.1", "path": "/", "expires": "ago -31535991", "httpOnly": false, "secure": false, "sameSite": "Lax"}, {"name": "brief", "value": "1", "domain": "127.0.0.1", "path": "/", "expires": -1, "httpOnly": false, "secure": false, "sameSite": "Lax"}], "origins": [{"origin": "{site}", "localStorage": [{"name": "seen", "value": "yes"}], "indexedDB": []}]}'));

INSERT INTO earlier_states VALUES ('default', ago(12), 1, sealed('{"cookies": []}'));
INSERT INTO earlier_states VALUES ('work', ago(1), 1, sealed('{"cookies": [{"name": "shop", "value": "ana", "domain": "127.0.0.1", "path": "/", "expires": "ago -31535991", "httpOnly": false, "secure": false, "sameSite": "Lax"}, {"name": "brief", "value": "1", "domain": "127.0.0.1", "path": "/", "expires": -1, "httpOnly": false, "secure": false, "sameSite": "Lax"}], "origins": [{"origin": "{site}", "localStorage": [{"name": "seen", "value": "yes"}], "indexedDB": []}]}'));

INSERT INTO closed_pages VALUES ('gone', filled('{"pageId":"gone","sessionId":"work","knownTo":["Claude · shop","chat-ana"],"closedAt":"ago 3","byRestart":false}'));

INSERT INTO revoked VALUES ('client', 'chat-eve', ago(-60));

INSERT INTO activity VALUES (4, ago(12), 'chat-ana', 'Claude · shop', NULL, 'cart', 'default', 'hold_page', 'ok', 38, 'req_a28d015b7c81', filled('{"arguments": {"reason": "waiting for a code", "minutes": 240}, "urlBefore": "{site}/cart"}'));
INSERT INTO activity VALUES (13, ago(6), 'chat-ben', 'Codex', NULL, 'drive', 'default', 'click', 'ok', 561, 'req_2bbac0a5be63', filled('{"arguments": {"selector": "h1"}, "urlBefore": "{site}/drive"}'));
INSERT INTO activity VALUES (21, ago(2), 'chat-ana', 'Claude · shop', NULL, 'cart', 'default', 'click', 'ok', 248, 'req_8ff447271c1c', filled('{"arguments": {"selector": "a"}, "urlBefore": "{site}/cart"}'));
INSERT INTO activity VALUES (23, ago(2), 'chat-ana', 'Claude · shop', 'chat-ana', NULL, 'work', 'clear_cookies', 'ok', 24, 'req_5c3f1db46749', '{"arguments": {"name": "brief"}}');
INSERT INTO activity VALUES (24, ago(0), 'chat-ana', 'Claude · shop', NULL, 'cart', 'default', 'request_human', 'ok', 1537, 'req_238343090adf', filled('{"arguments": {"timeout": 1500, "kind": "code", "message": "(20 characters)"}, "urlBefore": "{site}/cart"}'));
INSERT INTO activity VALUES (25, ago(0), 'chat-ben', 'Codex', NULL, 'cart', 'default', 'click', 'HUMAN_IN_CONTROL', 1, 'req_647b2e547b44', '{"arguments": {"selector": "button"}}');

INSERT INTO downloads VALUES ('dl-efe0038af40b', ago(2), filled('{"downloadId":"dl-efe0038af40b","clientId":"chat-ana","pageId":"cart","url":"{site}/list.csv","name":"list.csv","beganAt":"2026-11-22T17:37:55Z","state":"finished","size":8,"mimeType":"text/csv","artifactId":"art-NBPRAYEsLcrF5B9w","path":"{data}/output/list.csv","file":"/api/files/art-NBPRAYEsLcrF5B9w","reason":null}'));
