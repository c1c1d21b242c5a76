// The program that the suite takes for a client: `node caller.ts TEST URL`. It hands the scenario to the test that runs the
// suite and waits for its end, so that not each of some fifty scenarios compiles a gateway of its own.
const [test, url] = process.argv.slice(-2)
const {
  MCP_CONFORMANCE_SCENARIO: name,
  MCP_CONFORMANCE_PROTOCOL_VERSION: revision,
  MCP_CONFORMANCE_CONTEXT: context = '{}',
} = process.env
const body = JSON.stringify({ url, name, revision, context: JSON.parse(context) as object })
const response = await fetch(test!, { method: 'POST', body })
process.stderr.write(await response.text())
process.exitCode = response.ok ? 0 : 1
