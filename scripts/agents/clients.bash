# The clients: where each lies, its settings for the mock model, its command line in its most permissive mode.
# Sourced by scripts/e2e-agents; $clients, $port and the user `dev` are there.
# Each function CLIENT sets `line` (the command) and `vars` (its environment), and writes settings under $home.

all="claude codex gemini qwen opencode copilot cline aider mini"
node_bin=$clients/clients/npm/node_modules/.bin

installed() {
    case $1 in
    aider) [ -x "$clients/clients/venv-aider-chat/bin/aider" ] ;;
    mini) [ -x "$clients/clients/venv-mini-swe-agent/bin/python" ] ;;
    *) [ -x "$node_bin/$1" ] ;;
    esac
}

# what agent-shctl calls it
agent_name() {
    case $1 in claude) echo claude-code ;; mini) echo mini-swe-agent ;; *) echo "$1" ;; esac
}

claude() {
    vars=(ANTHROPIC_BASE_URL="http://127.0.0.1:$port" ANTHROPIC_API_KEY=none DISABLE_AUTOUPDATER=1 DISABLE_TELEMETRY=1
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1)
    line=("$node_bin/claude" -p "do it" --dangerously-skip-permissions --model claude-sonnet-4-5)
}

codex() {
    mkdir -p "$home/.codex"
    cat >"$home/.codex/config.toml" <<END
# kept by hand
model = "mock-model"
model_provider = "loop"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.loop]
name = "loop"
base_url = "http://127.0.0.1:$port/v1"
wire_api = "responses"
env_key = "LOOP_KEY"

[projects."$work"]
trust_level = "trusted"
END
    vars=(LOOP_KEY=none)
    line=("$node_bin/codex" exec --skip-git-repo-check ${hooks:+--dangerously-bypass-hook-trust} "do it")
}

gemini() {
    mkdir -p "$home/.gemini"
    cat >"$home/.gemini/settings.json" <<END
{
  // signed in by key
  "security": { "auth": { "selectedType": "gemini-api-key" } },
  "privacy": { "usageStatisticsEnabled": false },
  "general": { "enableAutoUpdate": false }
}
END
    vars=(GEMINI_API_KEY=none GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:$port" GEMINI_CLI_TRUST_WORKSPACE=true
        GEMINI_CLI_NO_RELAUNCH=true)
    line=("$node_bin/gemini" -m gemini-2.5-flash --yolo -p "do it")
}

qwen() {
    mkdir -p "$home/.qwen"
    cat >"$home/.qwen/settings.json" <<END
{
  "security": { "auth": { "selectedType": "openai" } },
  "privacy": { "usageStatisticsEnabled": false }
}
END
    vars=(OPENAI_API_KEY=none OPENAI_BASE_URL="http://127.0.0.1:$port/v1" OPENAI_MODEL=mock-model)
    line=("$node_bin/qwen" --yolo -p "do it")
}

opencode() {
    mkdir -p "$home/.config/opencode"
    cat >"$home/.config/opencode/opencode.json" <<END
{
  "autoupdate": false,
  "share": "disabled",
  "model": "loop/mock-model",
  "small_model": "loop/mock-model",
  "permission": "allow",
  "provider": {
    "loop": {
      "npm": "@ai-sdk/openai-compatible",
      "name": "loop",
      "options": { "baseURL": "http://127.0.0.1:$port/v1", "apiKey": "none" },
      "models": { "mock-model": { "name": "mock", "tool_call": true, "limit": { "context": 200000, "output": 8000 } } }
    }
  }
}
END
    vars=(OPENCODE_DISABLE_MODELS_FETCH=1 OPENCODE_DISABLE_LSP_DOWNLOAD=1)
    line=("$node_bin/opencode" run "do it")
}

copilot() {
    vars=(COPILOT_OFFLINE=true COPILOT_PROVIDER_BASE_URL="http://127.0.0.1:$port/v1" COPILOT_PROVIDER_API_KEY=none
        COPILOT_MODEL=mock-model COPILOT_AUTO_UPDATE=false)
    line=("$node_bin/copilot" -p "do it" --allow-all-tools --allow-all-paths)
}

cline() {
    vars=(OPENAI_API_KEY=none CLINE_TELEMETRY_DISABLED=1)
    as_dev "$node_bin/cline" auth -p openai-compatible -k none -m mock-model -b "http://127.0.0.1:$port/v1" >/dev/null 2>&1
    line=("$node_bin/cline" --auto-approve true -P openai-compatible -m mock-model "do it")
}

aider() {
    echo aider >"$mock/current_textmode"
    local aider=$clients/clients/venv-aider-chat/bin/aider
    # where an installed launcher must come before it, it is called by its name
    [ "$mode" != install ] || { ln -sf "$aider" /usr/local/bin/aider; aider=aider; }
    cat >"$home/drive.py" <<END
import pexpect, sys
child = pexpect.spawn("$aider", ["--model", "openai/mock-model", "--edit-format", "diff",
    "--no-check-update", "--analytics-disable", "--no-show-model-warnings", "--suggest-shell-commands", "--no-pretty",
    "--no-fancy-input", "--no-stream", "--no-show-release-notes", "--map-tokens", "0", "--no-gitignore"],
    timeout=60, encoding="utf8", codec_errors="replace", dimensions=(40, 200))
child.logfile_read = sys.stdout
words = ["do it", "go on", "/exit"]
while True:
    found = child.expect([r"Run shell command[^\n]*:", r"Add command output[^\n]*:", r"\([YN]\)[^\n]*:", r"\n[a-z]*> ", pexpect.EOF,
                          pexpect.TIMEOUT])
    if found >= 4 or found == 3 and not words:
        break
    child.sendline(words.pop(0) if found == 3 else "n" if found == 2 or found == 0 and len(words) < 2 else "y")
child.close(force=True)
END
    vars=(OPENAI_API_KEY=none OPENAI_API_BASE="http://127.0.0.1:$port/v1" LITELLM_LOCAL_MODEL_COST_MAP=True)
    line=("$clients/clients/venv-aider-chat/bin/python" "$home/drive.py")
}

mini() {
    touch "$mock/mini_tool"
    mkdir -p "$home/.config/mini-swe-agent"
    cat >"$home/drive.py" <<END
import yaml
from minisweagent.agents.default import DefaultAgent
from minisweagent.config import get_config_path
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.litellm_model import LitellmModel

settings = yaml.safe_load(get_config_path("mini").read_text())
agent = {k: v for k, v in settings["agent"].items() if k not in ("mode", "agent_class", "confirm_exit")}
model = {k: v for k, v in settings.get("model", {}).items() if k != "model_class"}
model.update(model_name="openai/mock-model", cost_tracking="ignore_errors")
model.setdefault("model_kwargs", {}).update(api_base="http://127.0.0.1:$port/v1", api_key="none")
place = {k: v for k, v in settings.get("environment", {}).items() if k != "environment_class"}
print(DefaultAgent(LitellmModel(**model), LocalEnvironment(**place), **agent).run("do it"))
END
    vars=(LITELLM_LOCAL_MODEL_COST_MAP=True MSWEA_SILENT_STARTUP=1 MSWEA_CONFIGURED=true
        MSWEA_GLOBAL_CONFIG_DIR="$home/.config/mini-swe-agent")
    line=("$clients/clients/venv-mini-swe-agent/bin/python" "$home/drive.py")
    [ "$mode" = install ] || return 0
    # its own program, which the installed launcher stands before
    ln -sf "$clients/clients/venv-mini-swe-agent/bin/mini" /usr/local/bin/mini
    line=(mini -m openai/mock-model -t "do it" -y --exit-immediately -c mini.yaml -c model.cost_tracking=ignore_errors
        -c model.model_kwargs.api_base="http://127.0.0.1:$port/v1" -c model.model_kwargs.api_key=none)
}
