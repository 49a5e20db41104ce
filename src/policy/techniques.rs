//! The MITRE ATT&CK techniques (Enterprise, v19) that rules may name, each with its name.
//!
//! In: the embedded rules. Out: nothing. Never: is compiled into the program; it is a check that no rule names a
//! technique that is misspelt, revoked (T1562, T1070.002) or of another matrix.

use super::Policy;
use super::tables::Tier;

/// Id and name, in order of ids.
const TECHNIQUES: &[(&str, &str)] = &[
    ("T1003", "OS Credential Dumping"),
    ("T1003.007", "OS Credential Dumping: Proc Filesystem"),
    ("T1003.008", "OS Credential Dumping: /etc/passwd and /etc/shadow"),
    ("T1006", "Direct Volume Access"),
    ("T1027.010", "Obfuscated Files or Information: Command Obfuscation"),
    ("T1036.003", "Masquerading: Rename Legitimate Utilities"),
    ("T1036.011", "Masquerading: Overwrite Process Arguments"),
    ("T1037", "Boot or Logon Initialization Scripts"),
    ("T1040", "Network Sniffing"),
    ("T1046", "Network Service Discovery"),
    ("T1048", "Exfiltration Over Alternative Protocol"),
    ("T1048.002", "Exfiltration Over Alternative Protocol: Asymmetric Encrypted Non-C2 Protocol"),
    ("T1048.003", "Exfiltration Over Alternative Protocol: Unencrypted Non-C2 Protocol"),
    ("T1053.002", "Scheduled Task/Job: At"),
    ("T1053.003", "Scheduled Task/Job: Cron"),
    ("T1053.006", "Scheduled Task/Job: Systemd Timers"),
    ("T1055.008", "Process Injection: Ptrace System Calls"),
    ("T1059.004", "Command and Scripting Interpreter: Unix Shell"),
    ("T1059.007", "Command and Scripting Interpreter: JavaScript"),
    ("T1070.003", "Indicator Removal: Clear Command History"),
    ("T1070.006", "Indicator Removal: Timestomp"),
    ("T1087.001", "Account Discovery: Local Account"),
    ("T1090.003", "Proxy: Multi-hop Proxy"),
    ("T1095", "Non-Application Layer Protocol"),
    ("T1098", "Account Manipulation"),
    ("T1098.003", "Account Manipulation: Additional Cloud Roles"),
    ("T1098.004", "Account Manipulation: SSH Authorized Keys"),
    ("T1098.006", "Account Manipulation: Additional Container Cluster Roles"),
    ("T1105", "Ingress Tool Transfer"),
    ("T1110", "Brute Force"),
    ("T1114.001", "Email Collection: Local Email Collection"),
    ("T1136.001", "Create Account: Local Account"),
    ("T1136.002", "Create Account: Domain Account"),
    ("T1195.001", "Supply Chain Compromise: Compromise Software Dependencies and Development Tools"),
    ("T1195.002", "Supply Chain Compromise: Compromise Software Supply Chain"),
    ("T1222.002", "File and Directory Permissions Modification: Linux and Mac"),
    ("T1485", "Data Destruction"),
    ("T1489", "Service Stop"),
    ("T1490", "Inhibit System Recovery"),
    ("T1496", "Resource Hijacking"),
    ("T1499", "Endpoint Denial of Service"),
    ("T1505", "Server Software Component"),
    ("T1528", "Steal Application Access Token"),
    ("T1529", "System Shutdown/Reboot"),
    ("T1531", "Account Access Removal"),
    ("T1537", "Transfer Data to Cloud Account"),
    ("T1542", "Pre-OS Boot"),
    ("T1543.002", "Create or Modify System Process: Systemd Service"),
    ("T1546", "Event Triggered Execution"),
    ("T1546.004", "Event Triggered Execution: Unix Shell Configuration Modification"),
    ("T1546.005", "Event Triggered Execution: Trap"),
    ("T1546.016", "Event Triggered Execution: Installer Packages"),
    ("T1546.017", "Event Triggered Execution: Udev Rules"),
    ("T1546.018", "Event Triggered Execution: Python Startup Hooks"),
    ("T1547", "Boot or Logon Autostart Execution"),
    ("T1547.006", "Boot or Logon Autostart Execution: Kernel Modules and Extensions"),
    ("T1547.013", "Boot or Logon Autostart Execution: XDG Autostart Entries"),
    ("T1548", "Abuse Elevation Control Mechanism"),
    ("T1548.001", "Abuse Elevation Control Mechanism: Setuid and Setgid"),
    ("T1548.003", "Abuse Elevation Control Mechanism: Sudo and Sudo Caching"),
    ("T1552", "Unsecured Credentials"),
    ("T1552.001", "Unsecured Credentials: Credentials In Files"),
    ("T1552.003", "Unsecured Credentials: Shell History"),
    ("T1552.004", "Unsecured Credentials: Private Keys"),
    ("T1552.005", "Unsecured Credentials: Cloud Instance Metadata API"),
    ("T1552.007", "Unsecured Credentials: Container API"),
    ("T1553", "Subvert Trust Controls"),
    ("T1553.004", "Subvert Trust Controls: Install Root Certificate"),
    ("T1554", "Compromise Host Software Binary"),
    ("T1555", "Credentials from Password Stores"),
    ("T1555.003", "Credentials from Password Stores: Credentials from Web Browsers"),
    ("T1555.005", "Credentials from Password Stores: Password Managers"),
    ("T1556", "Modify Authentication Process"),
    ("T1556.003", "Modify Authentication Process: Pluggable Authentication Modules"),
    ("T1558.005", "Steal or Forge Kerberos Tickets: Ccache Files"),
    ("T1561.001", "Disk Wipe: Disk Content Wipe"),
    ("T1565.001", "Data Manipulation: Stored Data Manipulation"),
    ("T1567.001", "Exfiltration Over Web Service: Exfiltration to Code Repository"),
    ("T1567.003", "Exfiltration Over Web Service: Exfiltration to Text Storage Sites"),
    ("T1572", "Protocol Tunneling"),
    ("T1574", "Hijack Execution Flow"),
    ("T1574.006", "Hijack Execution Flow: Dynamic Linker Hijacking"),
    ("T1574.007", "Hijack Execution Flow: Path Interception by PATH Environment Variable"),
    ("T1578.003", "Modify Cloud Compute Infrastructure: Delete Cloud Instance"),
    ("T1610", "Deploy Container"),
    ("T1611", "Escape to Host"),
    ("T1651", "Cloud Administration Command"),
    ("T1685", "Disable or Modify Tools"),
    ("T1685.006", "Disable or Modify Tools: Clear Linux or Mac System Logs"),
    ("T1686", "Disable or Modify System Firewall"),
    ("T1690", "Prevent Command History Logging"),
];

#[test]
fn every_rule_of_that_tier_names_a_technique_that_exists() {
    let policy = Policy::embedded();
    for rule in policy.rules().iter().filter(|r| r.tier == Tier::Mitre) {
        let known = TECHNIQUES.iter().any(|(id, _)| *id == rule.reference);
        assert!(known, "{} names {}, which is no technique of the list", rule.id, rule.reference);
    }
}

#[test]
fn every_technique_of_the_list_is_named_by_a_rule() {
    let policy = Policy::embedded();
    for (id, name) in TECHNIQUES {
        assert!(policy.rules().iter().any(|r| r.reference == *id), "{id} ({name}) is named by no rule");
    }
    assert!(TECHNIQUES.windows(2).all(|pair| pair[0].0 < pair[1].0), "in order, each once");
}
