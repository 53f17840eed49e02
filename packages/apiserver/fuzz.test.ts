import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { StatusError, parseFieldSelector, parseLabelSelector, parseQuantity } from '@skerry/api'
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  decodeBody,
} from '@skerry/bodies'
import { builtinKinds, loadExpressions, validateStructural } from '@skerry/kinds'
import { checkStructural } from '../kinds/structural/structural-check.ts'
import { schemaFromCrd } from '../kinds/schema/crd-schema.ts'
import { seededRandom, type Random } from '@skerry/base'
import {
  CelCompileError,
  CelCostError,
  CelRuntimeError,
  celTypes,
  createEnvironment,
  listLibrary,
  regexLibrary,
  stringLibrary,
} from '@skerry/cel'
import { parseAccept, negotiate } from './http/negotiate.ts'
import { parseRequestInfo } from './contract/request-info.ts'
import { decodeProtobuf } from './protobuf/decode-object.ts'
import { parseContinue } from './registry/continue-token.ts'

/** Each decoder gets mutations of its examples. Only errors meant for clients may result. */
const decoders: Readonly<Record<string, (bytes: Buffer) => unknown>> = {
  json: (bytes) => decodeBody(bytes, 'application/json', { isStrict: true }),
  yaml: (bytes) => decodeBody(bytes, 'application/yaml', { isStrict: true }),
  protobuf: (bytes) => decodeProtobuf(bytes, 'io.k8s.api.core.v1.Pod'),
  jsonPatch: (bytes) => applyJsonPatch(target(), decodeBody(bytes, 'application/json').value),
  mergePatch: (bytes) => applyMergePatch(target(), decodeBody(bytes, 'application/json').value),
  strategicMerge: (bytes) =>
    applyStrategicMergePatch(podTarget(), decodeBody(bytes, 'application/json').value, podType),
  crdSchema(bytes) {
    const { value } = decodeBody(bytes, 'application/json')
    checkStructural(value, 'spec')
    const { schemas, schemaName } = schemaFromCrd(value)
    validateStructural(schemas[schemaName] ?? {}, target())
  },
  cel(bytes) {
    const program = expressionsOfTests.compile(bytes.toString('latin1'))
    program.evaluate({ self: new Map(), object: new Map() }, { costLimit: 100_000 })
  },
  labelSelector: (bytes) => parseLabelSelector(bytes.toString('latin1')),
  fieldSelector: (bytes) => parseFieldSelector(bytes.toString('latin1')),
  quantity: (bytes) => parseQuantity(bytes.toString('latin1')),
  accept: (bytes) => (parseAccept(bytes.toString('latin1')), negotiate(bytes.toString(), false)),
  target: (bytes) => parseRequestInfo('GET', bytes.toString('latin1')),
  continueToken: (bytes) => parseContinue(bytes.toString('base64url')),
}

const roundsPerDecoder = 400
const seed = 20_261_121
/** One input may not occupy the process: the limit is a hundred times the slowest one's time. */
const slowMs = 1_000

const pod = (await builtinKinds()).find(({ kind }) => kind === 'Pod')
assert.ok(pod)
const podType = { schemas: pod.schemas, schemaName: pod.schemaName }
const expressionsOfTests = createEnvironment({
  variables: { self: celTypes.dyn, object: celTypes.dyn },
  libraries: [stringLibrary, listLibrary, regexLibrary],
})
await loadExpressions()

function podTarget() {
  const spec = { containers: [{ name: 'a' }, { name: 'b' }], volumes: [{ name: 'v' }] }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', finalizers: ['x/y'] }, spec }
}

function target() {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { b: 'c' } }
}

async function readCorpus(): Promise<Readonly<Record<string, readonly string[]>>> {
  const text = await readFile(join(import.meta.dirname, 'testdata/fuzz-corpus.json'), 'utf8')
  const corpus: Readonly<Record<string, readonly string[]>> = JSON.parse(text)
  return corpus
}

for (const [name, decode] of Object.entries(decoders)) {
  test(`no input breaks the decoder of ${name} (seed ${seed})`, async () => {
    const examples = ((await readCorpus())[name] ?? []).map(exampleBytes)
    assert.ok(examples.length > 0)
    const random = seededRandom(seed)
    for (const example of examples) await survives(name, decode, example)
    for (let round = 0; round < roundsPerDecoder; round += 1) {
      const example = examples[Math.floor(random.next() * examples.length)] ?? Buffer.alloc(0)
      await survives(name, decode, mutated(example, random))
    }
  })
}

/** Text, or bytes where it starts so. */
function exampleBytes(text: string): Buffer {
  return text.startsWith('base64:') ? Buffer.from(text.slice(7), 'base64') : Buffer.from(text)
}

async function survives(
  name: string,
  decode: (bytes: Buffer) => unknown,
  input: Buffer,
): Promise<void> {
  const startMs = performance.now()
  try {
    await decode(input)
  } catch (error) {
    const isForClients = error instanceof StatusError || allowedErrors[name]?.(error) === true
    assert.ok(isForClients, `${String(error)} for ${JSON.stringify(input.toString('base64'))}`)
  }
  assert.ok(performance.now() - startMs < slowMs, `slow: ${input.toString('base64')}`)
}

/** The reader of a field refuses a bad quantity in it. */
const allowedErrors: Readonly<Record<string, (error: unknown) => boolean>> = {
  quantity: (error) => error instanceof RangeError || error instanceof TypeError,
  cel: (error) =>
    error instanceof CelCompileError ||
    error instanceof CelRuntimeError ||
    error instanceof CelCostError,
}

/**
 * Makes one to four changes: a flipped bit, a changed byte, a cut, a doubled part, or a part copied
 * elsewhere.
 */
function mutated(example: Buffer, random: Random): Buffer {
  let bytes = Buffer.from(example)
  const changes = 1 + Math.floor(random.next() * 4)
  for (let change = 0; change < changes; change += 1) {
    const at = Math.floor(random.next() * (bytes.length + 1))
    const end = Math.min(bytes.length, at + 1 + Math.floor(random.next() * 8))
    const part = bytes.subarray(at, end)
    const odd = Buffer.of(Math.floor(random.next() * 256))
    const forms = [
      () => Buffer.concat([bytes.subarray(0, at), odd, bytes.subarray(at + 1)]),
      () => Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)]),
      () => Buffer.concat([bytes.subarray(0, end), ...Array(20).fill(part), bytes.subarray(end)]),
      () => Buffer.concat([part, bytes]),
      () => Buffer.concat([bytes.subarray(0, at), odd, odd, odd, bytes.subarray(at)]),
    ]
    bytes = forms[Math.floor(random.next() * forms.length)]?.() ?? bytes
  }
  return bytes
}
