import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject } from '@skerry/api'
import { type Suspension } from './customization-budget.ts'
import { CustomScripts, type Customization, type CustomizationRule } from './customization.ts'
import { CustomizationError, LuaInterpreter } from './lua-interpreter.ts'
import { customizationLimits } from '../limits-table.ts'

const valve: AnyObject = {
  apiVersion: 'example.com/v1',
  kind: 'Valve',
  metadata: { namespace: 'plant', name: 'north', generation: 2, annotations: {} },
  spec: { count: 3, pod: { spec: { nodeSelector: { disk: 'ssd' } } }, rules: [], limits: {} },
  status: { open: 2, observed: 2 },
}

function customization(
  name: string,
  scripts: Partial<Record<CustomizationRule, string>>,
  kind = 'Valve',
): Customization {
  const customizations = Object.fromEntries(
    Object.entries(scripts).map(([rule, luaScript]) => [rule, { luaScript }]),
  )
  return {
    apiVersion: 'config.karmada.io/v1alpha1',
    kind: 'ResourceInterpreterCustomization',
    metadata: { name },
    spec: { target: { apiVersion: 'example.com/v1', kind }, customizations },
  }
}

/** A clock that stands still until a test moves it. */
const clock = { ms: 0, now: () => Date.parse('2026-11-22T13:05:09Z'), monotonicMs: () => clock.ms }

function taught(...customizations: Customization[]): LuaInterpreter {
  const scripts = new CustomScripts(customizations)
  return new LuaInterpreter(() => scripts, clock)
}

const all = taught(
  customization('valves', {
    replicaResource: `
      local kube = require("kube")
      function GetReplicas(o) return o.spec.count, kube.accuratePodRequirements(o.spec.pod) end`,
    componentResource: `
      function GetComponents(o)
        return {{ name = "seat", replicas = o.spec.count, replicaRequirements = { resourceRequest = { cpu = "0.5" } } }}
      end`,
    replicaRevision: 'function ReviseReplica(o, n) o.spec.count = n return o end',
    retention: 'function Retain(d, o) d.spec.count = o.spec.count return d end',
    statusReflection: 'function ReflectStatus(o) return { open = o.status.open } end',
    statusAggregation: `
      function AggregateStatus(o, items)
        local open = 0
        for _, item in ipairs(items) do open = open + (item.status and item.status.open or 0) end
        o.status = { open = open }
        return o
      end`,
    healthInterpretation:
      'function InterpretHealth(o) return o.status.observed == o.metadata.generation end',
    dependencyInterpretation: `
      function GetDependencies(o)
        return {
          { apiVersion = "v1", kind = "Secret", namespace = o.metadata.namespace, name = "key" },
          { apiVersion = "v1", kind = "ConfigMap", namespace = o.metadata.namespace, labelSelector = { matchLabels = { a = "b" } } },
        }
      end`,
  }),
)

test('scripts answer every question about their kind', async () => {
  assert.deepEqual(await all.replicas(valve), {
    replicas: 3,
    requirements: { nodeClaim: { nodeSelector: { disk: 'ssd' } } },
  })
  assert.deepEqual(await all.components(valve), [
    { name: 'seat', replicas: 3, replicaRequirements: { resourceRequest: { cpu: '500m' } } },
  ])
  // Empty values stay as they were.
  assert.deepEqual(await all.reviseReplica(valve, 7), {
    ...valve,
    spec: { ...Object(valve['spec']), count: 7 },
  })
  const observed = { ...valve, spec: { count: 9 } }
  const kept = await all.retain(valve, observed)
  assert.deepEqual(kept, { ...valve, spec: { ...Object(valve['spec']), count: 9 } })
  assert.deepEqual(await all.reflectStatus(valve), { open: 2 })
  const items = [{ clusterName: 'a', status: { open: 1 } }, { clusterName: 'b' }]
  assert.deepEqual((await all.aggregateStatus(valve, items))['status'], { open: 1 })
  assert.equal(await all.health(valve), 'Healthy')
  assert.deepEqual(await all.dependencies(valve), [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      namespace: 'plant',
      labelSelector: { matchLabels: { a: 'b' } },
    },
    { apiVersion: 'v1', kind: 'Secret', namespace: 'plant', name: 'key' },
  ])
})

test('a script is asked about its own kind and question, the first by name; dependencies add up', async () => {
  const needs = (name: string) =>
    `function GetDependencies(o) return {{ apiVersion = "v1", kind = "Secret", namespace = "plant", name = "${name}" }} end`
  const healthy = (answer: boolean) => `function InterpretHealth() return ${answer} end`
  const several = taught(
    customization('z', {
      healthInterpretation: healthy(false),
      dependencyInterpretation: needs('z'),
    }),
    customization('a', {
      healthInterpretation: healthy(true),
      dependencyInterpretation: needs('a'),
    }),
    customization('other', { retention: 'function Retain(d) return d end' }, 'Pump'),
  )
  assert.equal(await several.health(valve), 'Healthy')
  assert.deepEqual(
    (await several.dependencies(valve)).map(({ name }) => name),
    ['a', 'z'],
  )
  assert.equal(several.knows(valve, 'Retain'), false)
  assert.equal(several.knows({ ...valve, kind: 'Pump' }, 'Retain'), true)
  assert.equal(several.knows({ ...valve, apiVersion: 'example.com/v2' }, 'InterpretHealth'), false)
})

const bad: readonly (readonly [CustomizationRule, script: string, why: RegExp])[] = [
  [
    'healthInterpretation',
    'function InterpretHealth() while true do end end',
    /more than 1000000 steps$/,
  ],
  [
    'healthInterpretation',
    'function InterpretHealth() local s = "x" while true do s = s .. s end end',
    /more than 33554432 bytes$/,
  ],
  ['healthInterpretation', 'function InterpretHealth() return "yes" end', /not true or false$/],
  ['healthInterpretation', 'function Healthy() return true end', /no function InterpretHealth$/],
  [
    'healthInterpretation',
    'function InterpretHealth(o)\nreturn o.gone.x\nend',
    /line 2: .*nil value/,
  ],
  ['healthInterpretation', 'function InterpretHealth(', /line 1: name expected/],
  [
    'retention',
    'function Retain(d) d.metadata.name = "other" return d end',
    /of the same .* name$/,
  ],
  ['retention', 'function Retain(d) d.kind = "Secret" return d end', /of the same .* kind/],
  ['retention', 'function Retain(d) return "d" end', /not an object$/],
]

test('a script that fails, never ends or answers nonsense is named in the error', async () => {
  for (const [rule, script, why] of bad) {
    const interpreter = taught(customization('broken', { [rule]: script }))
    const asked =
      rule === 'retention' ? interpreter.retain(valve, valve) : interpreter.health(valve)
    await assert.rejects(asked, (error: unknown) => {
      assert.ok(error instanceof CustomizationError)
      const what = `Cannot run ${rule} of ResourceInterpreterCustomization "broken" for Valve "plant/north": `
      assert.ok(error.message.startsWith(what), error.message)
      assert.match(error.message, why)
      return true
    })
  }
})

test('a script that is not Lua is read once, until many others have been', async () => {
  const kinds = Array.from({ length: 202 }, (_, at) => `Valve${at}`)
  const broken = taught(
    ...kinds.map((kind, at) =>
      customization(kind, { healthInterpretation: `function ${at}` }, kind),
    ),
  )
  /** Returns the error of the script: the same object unless the script was read again. */
  const fault = async (kind: string): Promise<unknown> => {
    const error: unknown = await broken
      .health({ ...valve, kind })
      .catch((thrown: unknown) => thrown)
    assert.ok(error instanceof CustomizationError)
    assert.match(error.message, /^Cannot run healthInterpretation of .* line 1: name expected/)
    return error.cause
  }
  const [first = '', ...others] = kinds
  const found = await fault(first)
  assert.equal(await fault(first), found)
  for (const kind of others) await fault(kind)
  assert.notEqual(await fault(first), found, 'only a limited number is kept')
})

test('impossible numbers of replicas and requirements are refused', async () => {
  const scripts = [
    'function GetReplicas() return -1 end',
    'function GetReplicas() return 0 / 0 end',
    'function GetReplicas() return 1e12 end',
    'function GetReplicas() return "3" end',
    'function GetReplicas() return 1, { resourceRequest = { cpu = "much" } } end',
    'function GetReplicas() return 1, { nodeClaim = { tolerations = "all" } } end',
    'local kube = require("kube") function GetReplicas() return 1, { resourceRequest = { cpu = kube.resourceAdd("1", "x") } } end',
  ]
  for (const replicaResource of scripts) {
    const interpreter = taught(customization('broken', { replicaResource }))
    await assert.rejects(interpreter.replicas(valve), CustomizationError, replicaResource)
  }
})

test('a script may ask for the time of day, in UTC, and for nothing else of the system', async () => {
  const asked = async (expression: string): Promise<unknown> => {
    const statusReflection = `function ReflectStatus() return { found = ${expression} } end`
    return (await taught(customization('time', { statusReflection })).reflectStatus(valve))['found']
  }
  assert.equal(await asked('os.date("!%Y-%m-%dT%H:%M:%SZ")'), '2026-11-22T13:05:09Z')
  assert.equal(await asked('os.date("%F %X", 0)'), '1970-01-01 00:00:00')
  assert.equal(await asked('os.time()'), 1795352709)
  assert.equal(await asked('os.time({ year = 1970, month = 1, day = 2, hour = 0 })'), 86400)
  assert.equal(await asked('os.date("*t", 86400).day'), 2)
  assert.equal(await asked('os.execute == nil and os.getenv == nil and os.exit == nil'), true)
})

test('an aggregation of no copies gets no list', async () => {
  const statusAggregation =
    'function AggregateStatus(o, items) o.status = { none = items == nil } return o end'
  const found = await taught(customization('a', { statusAggregation })).aggregateStatus(valve, [])
  assert.deepEqual(found['status'], { none: true })
})

test('a customization that keeps overrunning rests twice as long each time, until it is changed', async () => {
  const told: Suspension[] = []
  const loop = (answer: string): Customization =>
    customization('loop', {
      healthInterpretation: `function InterpretHealth(o) while o.spec.count > 5 do end return ${answer} end`,
      statusReflection: 'function ReflectStatus(o) return {} end',
    })
  let scripts = new CustomScripts([loop('true')])
  const interpreter = new LuaInterpreter(
    () => scripts,
    clock,
    (each) => told.push(each),
  )
  const busy = { ...valve, spec: { count: 9 } }
  for (const seconds of [10, 20, 40]) {
    await assert.rejects(interpreter.health(busy), /1000000 steps$/)
    const rests = new RegExp(`it took too much, and rests for ${seconds} s$`)
    await assert.rejects(interpreter.health(valve), rests)
    // All its scripts for the kind are suspended, those for another kind are not.
    await assert.rejects(interpreter.reflectStatus(valve), rests)
    clock.ms += seconds * 1000
  }
  assert.deepEqual(
    told.map(({ customization: name, kind, forMs }) => [name, kind, forMs]),
    [10_000, 20_000, 40_000].map((ms) => ['loop', 'Valve', ms]),
  )
  await assert.rejects(interpreter.health(busy), /1000000 steps$/)
  scripts = new CustomScripts([loop('o.spec.count == 3')])
  assert.equal(await interpreter.health(valve), 'Healthy')
})

test('calls that each stay below the limit are bounded together', async () => {
  const told: Suspension[] = []
  const healthInterpretation =
    'function InterpretHealth(o) for i = 1, o.spec.count do end return true end'
  const scripts = new CustomScripts([customization('many', { healthInterpretation })])
  const interpreter = new LuaInterpreter(
    () => scripts,
    clock,
    (each) => told.push(each),
  )
  const heavy = { ...valve, spec: { count: 900_000 } }
  let count = 0
  while (told.length === 0) {
    assert.equal(await interpreter.health(heavy), 'Healthy')
    count += 1
    assert.ok(count < 30, 'it is never suspended')
  }
  const { stepsMax, stepsPerSecond } = customizationLimits
  assert.equal(count, Math.ceil(stepsMax / 900_000))
  await assert.rejects(interpreter.health(heavy), /its calls took too much together, and rests for/)
  clock.ms += (stepsMax / 2 / stepsPerSecond) * 1000 + 1_000
  assert.equal(await interpreter.health(heavy), 'Healthy')
})

test('a script that took too much is not run again at once, for any object', async () => {
  const healthInterpretation =
    'function InterpretHealth(o) while o.spec.count > 5 do end return true end'
  const interpreter = taught(customization('loop', { healthInterpretation }))
  await assert.rejects(interpreter.health({ ...valve, spec: { count: 9 } }), /1000000 steps$/)
  await assert.rejects(interpreter.health(valve), /it took too much, and rests for 10 s$/)
  clock.ms += 10_000
  assert.equal(await interpreter.health(valve), 'Healthy')
})
