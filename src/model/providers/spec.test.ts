import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Environment, parseModel } from './spec.ts'

function errorOf(spec: string, env: Environment = {}): string {
  const model = parseModel(spec, env)
  assert.ok('error' in model, `${spec} was taken`)
  return model.error
}

test('a missing key is said before anything starts, with the variable to set', () => {
  assert.match(errorOf('anthropic:claude'), /Set ANTHROPIC_API_KEY in the environment/)
  assert.match(errorOf('openai:gpt', { OPENAI_API_KEY: ' ' }), /Set OPENAI_API_KEY/)
  assert.match(errorOf('openai-chat:gpt'), /Set OPENAI_API_KEY/)
  assert.match(errorOf('google:gemini'), /Set GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY/)
})

test('an unknown form and a missing name are said with the forms that there are', () => {
  for (const spec of ['', 'claude', 'azure:x', 'constructor:x', '__proto__:x']) {
    assert.match(errorOf(spec), /The forms are anthropic:NAME, openai:NAME/)
  }
  assert.match(errorOf('anthropic:', { ANTHROPIC_API_KEY: 'k' }), /needs the name of a model/)
  assert.match(errorOf('scripted:'), /needs a file/)
  assert.match(errorOf('scripted:/nowhere/turns.yaml'), /cannot be read \(ENOENT\)/)
})

test('a compatible server needs an address and no key; names may hold colons and an @', () => {
  for (const spec of ['compatible:qwen3:8b@http://127.0.0.1:1/v1', 'compatible:org@x/model@https://host/v1']) {
    const model = parseModel(spec, {})
    assert.ok(!('error' in model))
  }
  const named = parseModel('compatible:org@x/model@https://host/v1', {})
  assert.equal('label' in named && named.label, 'compatible:org@x/model')
  assert.match(errorOf('compatible:qwen3'), /needs the server's address/)
  assert.ok(!('error' in parseModel('compatible:qwen3', { COMPATIBLE_BASE_URL: 'http://127.0.0.1:1/v1' })))
})

test('an address with a password, a query or another scheme is refused and not repeated', () => {
  for (const base of ['http://user:secret@host/v1', 'https://host/v1?key=secret', 'ftp://secret/', 'secret']) {
    const error = errorOf('openai:gpt', { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: base })
    assert.match(error, /has to be an http or https URL/)
    assert.doesNotMatch(error, /secret/)
  }
  assert.doesNotMatch(errorOf('compatible:m@http://user:secret@host/v1'), /secret/)
})

test('a model keeps its key out of everything that could be printed', () => {
  const model = parseModel('anthropic:claude', { ANTHROPIC_API_KEY: 'sk-very-secret' })
  assert.doesNotMatch(JSON.stringify(model), /sk-very-secret/)
})
