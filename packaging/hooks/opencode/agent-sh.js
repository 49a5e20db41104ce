// OpenCode: asks agent-sh before each tool runs; what it does not clearly allow is refused.
// To be put into ~/.config/opencode/plugin/ or a project's .opencode/plugin/.
import { spawn } from "node:child_process"

const program = "agent-shctl"

const ask = (question) =>
  new Promise((resolve, reject) => {
    const child = spawn(program, ["hook", "opencode"], { stdio: ["pipe", "pipe", "ignore"] })
    const timer = setTimeout(() => child.kill("SIGKILL"), 30000)
    let answer = ""
    child.on("error", reject)
    child.stdout.on("data", (piece) => (answer += piece))
    child.on("close", (status) => {
      clearTimeout(timer)
      resolve({ status, answer })
    })
    child.stdin.on("error", () => {})
    child.stdin.end(question)
  })

export const AgentSh = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    let verdict
    try {
      const reply = await ask(JSON.stringify({ tool: input.tool, call: input.callID, cwd: directory, args: output.args }))
      verdict = JSON.parse(reply.answer)
      if (reply.status !== 0 && verdict.decision === "allow") verdict = undefined
    } catch {
      verdict = undefined
    }
    if (verdict?.decision === "allow") return
    throw new Error(verdict?.reason ?? "agent-sh: denied: agent-shctl could not be asked, so nothing runs")
  },
})
