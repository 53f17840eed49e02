/**
 * Runs the conformance cases of the Common Expression Language against packages/cel and prints how
 * many pass. The cases are those of the npm package @bufbuild/cel-spec, unpacked anywhere:
 *   node dev/hack/cel-conformance/run-conformance.ts <package>/dist/esm/testdata/conformance.js [--list]
 * Cases that need protocol buffer messages are counted apart: Kubernetes has none.
 */
import { pathToFileURL } from 'node:url'
import {
  areEqual,
  bindingLibrary,
  CelDuration,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  celTypes,
  createEnvironment,
  isList,
  isMap,
  itemsOf,
  listExtensionLibrary,
  listLibrary,
  listOf,
  listType,
  mapType,
  optionalLibrary,
  regexLibrary,
  setLibrary,
  stringLibrary,
  twoVariableLibrary,
  type CelType,
  type CelValue,
} from '@skerry/cel'
import { cidrLibrary, ipLibrary } from '@skerry/kinds'

interface ExprValue {
  int64Value?: string
  uint64Value?: string
  doubleValue?: number | string
  stringValue?: string
  boolValue?: boolean
  bytesValue?: string
  nullValue?: unknown
  typeValue?: string
  listValue?: { values?: ExprValue[] }
  mapValue?: { entries?: { key: ExprValue; value: ExprValue }[] }
  objectValue?: { '@type': string; value?: string }
}

interface Case {
  name: string
  expr: string
  value?: ExprValue
  evalError?: unknown
  anyEvalErrors?: unknown
  typedResult?: { result?: ExprValue }
  bindings?: Record<string, { value?: ExprValue }>
  typeEnv?: { name?: string; ident?: { type?: TypeSpec } }[]
  checkOnly?: boolean
  disableCheck?: boolean
  container?: string
}

interface TypeSpec {
  primitive?: string
  wellKnown?: string
  dyn?: unknown
  listType?: { elemType?: TypeSpec }
  mapType?: { keyType?: TypeSpec; valueType?: TypeSpec }
}

interface Suite {
  name: string
  tests?: { original: Case }[]
  suites?: Suite[]
}

const primitives: Readonly<Record<string, CelType>> = {
  INT64: celTypes.int,
  UINT64: celTypes.uint,
  STRING: celTypes.string,
  BOOL: celTypes.bool,
  BYTES: celTypes.bytes,
  DOUBLE: celTypes.double,
}

function typeOf(spec: TypeSpec | undefined): CelType {
  if (spec?.primitive) return primitives[spec.primitive] ?? celTypes.dyn
  if (spec?.wellKnown === 'TIMESTAMP') return celTypes.timestamp
  if (spec?.wellKnown === 'DURATION') return celTypes.duration
  if (spec?.listType) return listType(typeOf(spec.listType.elemType))
  if (spec?.mapType) return mapType(typeOf(spec.mapType.keyType), typeOf(spec.mapType.valueType))
  return celTypes.dyn
}

const unknown = Symbol('a message')

function valueOf(value: ExprValue): CelValue | typeof unknown {
  if (value.int64Value !== undefined) return BigInt(value.int64Value)
  if (value.uint64Value !== undefined) return new CelUint(BigInt(value.uint64Value))
  if (value.doubleValue !== undefined) return Number(value.doubleValue)
  if (value.stringValue !== undefined) return value.stringValue
  if (value.boolValue !== undefined) return value.boolValue
  if (value.bytesValue !== undefined) return Uint8Array.fromBase64(value.bytesValue)
  if (value.typeValue !== undefined) return new CelTypeValue(value.typeValue)
  if (value.listValue) {
    const items = (value.listValue.values ?? []).map(valueOf)
    return listOf(items.filter((item) => item !== unknown))
  }
  if (value.mapValue) return mapOf(value.mapValue.entries ?? [])
  const { objectValue: message } = value
  if (!message) return null
  const [text = ''] = [message.value]
  if (message['@type'].endsWith('Timestamp')) return evaluated(`timestamp(${JSON.stringify(text)})`)
  if (message['@type'].endsWith('Duration')) return evaluated(`duration(${JSON.stringify(text)})`)
  return unknown
}

function mapOf(entries: { key: ExprValue; value: ExprValue }[]): CelValue {
  const made = entries.map(({ key, value }) => [valueOf(key), valueOf(value)] as const)
  const find = (key: CelValue) => made.find(([own]) => own !== unknown && areEqual(own, key))?.[1]
  return {
    celKind: 'map',
    size: made.length,
    get: (key) => {
      const found = find(key)
      return found === unknown ? undefined : found
    },
    keys: () => made.flatMap(([key]) => (key === unknown ? [] : [key])),
  }
}

function evaluated(text: string): CelValue {
  return createEnvironment({ variables: {} }).compile(text).evaluate({}).value
}

/** Compares like areEqual, but requires one type, and NaN equals itself. */
function isSame(a: CelValue, b: CelValue): boolean {
  if (typeof a === 'number' && typeof b === 'number') return Object.is(a, b) || a === b
  const isTime = a instanceof CelTimestamp || a instanceof CelDuration
  if (isTime) return areEqual(a, b)
  if (isList(a) && isList(b)) {
    const others = [...itemsOf(b)]
    return (
      a.size === b.size && [...itemsOf(a)].every((item, at) => isSame(item, others[at] ?? null))
    )
  }
  if (isMap(a) && isMap(b)) return areEqual(a, b)
  return typeof a === typeof b && areEqual(a, b)
}

const libraries = [
  bindingLibrary,
  cidrLibrary,
  ipLibrary,
  listExtensionLibrary,
  listLibrary,
  optionalLibrary,
  regexLibrary,
  setLibrary,
  stringLibrary,
  twoVariableLibrary,
]

function run(test: Case): boolean {
  const variables = Object.fromEntries(
    (test.typeEnv ?? []).flatMap(({ name, ident }) =>
      name && ident ? [[name, typeOf(ident.type)]] : [],
    ),
  )
  const undeclared = Object.keys(test.bindings ?? {}).map((name) => [name, celTypes.dyn])
  const environment = createEnvironment({
    variables: { ...Object.fromEntries(undeclared), ...variables },
    libraries,
    hasMixedLiterals: true,
  })
  const isError = test.evalError !== undefined || test.anyEvalErrors !== undefined
  try {
    const program = environment.compile(test.expr)
    if (test.checkOnly) return true
    const bound = Object.entries(test.bindings ?? {}).map(([name, { value }]) => {
      const made = valueOf(value ?? {})
      return [name, () => (made === unknown ? null : made)]
    })
    const { value } = program.evaluate(Object.fromEntries(bound))
    if (isError) return false
    const expected = valueOf(test.value ?? test.typedResult?.result ?? { boolValue: true })
    return expected !== unknown && isSame(value, expected)
  } catch {
    // The suite states only that such a case fails, and not how.
    return isError
  }
}

/** Matches cases outside of Kubernetes' CEL: messages, and functions of extensions that it does not have. */
const outside =
  /proto[23]|TestAll|NestedTest|google\.protobuf|GlobalEnum|math\.|base64|encoders|cel\.block|cel\.iterVar|x\.y\.z|\.reverse\(\)|strings\.quote|cel\.@/

function walk(suite: Suite, visit: (test: Case, path: string) => void, path = ''): void {
  const here = path === '' ? suite.name : `${path}/${suite.name}`
  for (const { original } of suite.tests ?? []) visit(original, here)
  for (const below of suite.suites ?? []) walk(below, visit, here)
}

const [file, option] = process.argv.slice(2)
if (!file) throw new RangeError('Cannot run: no file of cases')
const { tests } = await import(pathToFileURL(file).href)
const counts = { passed: 0, failed: 0, outside: 0 }
walk(tests, (test, path) => {
  const messages = /"@type":"[^"]*(?<!Timestamp|Duration)"|messageType|enumValue/
  const isOutside =
    outside.test(test.expr) ||
    messages.test(JSON.stringify(test)) ||
    test.container ||
    test.disableCheck
  if (isOutside) counts.outside += 1
  else if (run(test)) counts.passed += 1
  else {
    counts.failed += 1
    if (option === '--list') console.log(`${path}/${test.name}: ${test.expr}`)
  }
})
const all = counts.passed + counts.failed
console.log(counts, `${((100 * counts.passed) / all).toFixed(1)} %`)
