/** What `countersign init` writes: a configuration that starts, lets nothing dangerous through, and shows where to go on. */
export function starterConfig(schema: string | undefined): string {
  const header = schema === undefined ? '' : `# yaml-language-server: $schema=${schema}\n`
  return `${header}# Countersign. Every key is in docs/configuration.md; what is not declared here is taken to be an effect that can happen
# once only, of high risk, and a person is asked every time.

endpoint:
  host: 127.0.0.1
  port: 7420

# Folders that the paths in calls are measured against.
roots:
  workspace: .

policy: ./policy
lock: ./countersign.lock.yaml

# The MCP servers behind this gateway. Their tools are in quarantine until you approve them:
#   countersign tool list --state pending
#   countersign tool approve --server files
servers: {}
#  files:
#    command: npx
#    args: [-y, '@modelcontextprotocol/server-filesystem', .]
#    tools:
#      read_text_file:
#        effect: read
#        risk: low
#        scopes: [{ kind: path, from: /path, access: read, base: workspace }]
#      write_file:
#        effect: idempotent
#        risk: medium
#        scopes: [{ kind: path, from: /path, access: write, base: workspace }]
#  remote:
#    url: https://example.org/mcp
#    headers: { Authorization: 'Bearer \${EXAMPLE_TOKEN}' }

consent:
  wait: 25s
  rules:
    - { name: reads pass, effect: [read], risk: [low], decision: allow }
    # One person alone has to be able to say yes to their own calls. In a team: selfApproval: false, and name approvers.
    - { name: all else asks, decision: ask, channels: [terminal, cli], selfApproval: true, expires: 10m }

budgets:
  - { name: calls in an hour, per: principal, window: 1h, calls: 1000, concurrency: 16 }
`
}

export const starterPolicy = `// Who may do what. Nothing is allowed but what a \`permit\` here allows, and one \`forbid\` beats every \`permit\`.
// docs/policy.md has all that a policy can speak of; try one with \`countersign check\`.

// The person who owns the home may see and call every tool that was approved.
permit (
  principal == User::"local",
  action in [Action::"see", Action::"call"],
  resource
);

// Files: inside the declared root only, all links followed.
permit (
  principal == User::"local",
  action in [Action::"read", Action::"list", Action::"write"],
  resource
)
when { context.scope.kind == "path" && context.scope.within.contains("workspace") };

// A file with a second name may be a file from elsewhere that somebody linked in.
forbid (principal, action == Action::"read", resource)
when { context.scope.hardLinked };
`
