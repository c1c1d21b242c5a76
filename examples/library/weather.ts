// Countersign as a library: a weather server in this process, its tool in the shapes of two model providers, and a call of
// each shape judged, run and answered. No model is asked and no key is needed: the calls are written by hand.
import { createCountersign, memoryPair } from 'countersign'
import { createWeatherServer } from '../../servers/weather/server.ts'

// The server is connected through a pair in memory. What is sent to it is printed on its way.
async function openWeather() {
  const [ours, theirs] = memoryPair()
  const send = ours.send.bind(ours)
  ours.send = (message) => {
    const { method } = message as { method?: string }
    if (method !== undefined) console.log('sent:', method)
    return send(message)
  }
  await createWeatherServer().connect(theirs)
  return ours
}

const countersign = await createCountersign({
  servers: { weather: { open: openWeather, tools: { get_weather: { effect: 'read', risk: 'low' } } } },
  policy: 'permit (principal, action, resource) when { resource.server == "weather" };',
  consent: [
    { name: 'reads pass', effect: ['read'], decision: 'allow', channels: [], selfApproval: false, expiresMs: 60_000 },
  ],
})

// Nobody has approved the definition yet, so nothing is offered.
console.log('pending:', countersign.pending().join(', '), '· offered:', countersign.offers().length)
await countersign.approve('weather/get_weather', 'the author of this example')

console.log('instructions:', countersign.instructions('weather'))
console.log('anthropic:', JSON.stringify(countersign.anthropicTools()[0]))
console.log('openai:', JSON.stringify(countersign.openaiTools()[0]))

const toolUse = { type: 'tool_use', id: 'toolu_1', name: 'weather__get_weather', input: { location: 'Seoul' } }
console.log('tool_result:', JSON.stringify(await countersign.toolUse(toolUse)))

const functionCall = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'weather__get_weather',
  arguments: '{"location":"Lisbon"}',
}
console.log('function_call_output:', JSON.stringify(await countersign.functionCall(functionCall)))

console.log('evidence:', (await countersign.verify()).verdict)
await countersign.close()
