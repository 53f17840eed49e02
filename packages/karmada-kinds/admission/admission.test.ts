import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { builtinKinds } from '@skerry/kinds'
import { silentLogger, systemClock } from '@skerry/base'
import { createCluster } from '@skerry/client'
import { openAccess, startTestApiServer } from '@skerry/testing'
import { karmadaKinds } from '../karmada-kinds.ts'
import { fleetAdmission } from './fleet-admission.ts'
import {
  answersOf,
  caseNamespace,
  readCases,
  saidOf,
  type AdmissionAnswer,
} from './testing/admission-cases.ts'

const testdata = join(import.meta.dirname, 'testdata')

/** The differences from Karmada's answers, with their reasons. */
const explained: Readonly<Record<string, string>> = {
  'policy without selectors': 'what is required is said to be',
  'policy with a selector without a kind': 'and is not made up',
  'binding of nothing': 'as before',
  'Work without a spec': 'as before',
  'overrides of every sort': 'nothing empty is added',
  'overrides at what is no path': 'the message is one line',
  'interpreter that is no Lua': 'the place of the mistake is in our words',
  'Work in a namespace of a cluster': 'Karmada’s controllers add whose it is, ours the server',
  'Work with a manifest without a name': 'nobody could apply it',
  'Work with a manifest without a kind': 'invalid, not an error of the server',
}

test('policies, bindings and Works are taken and refused as Karmada does it, in its words', async () => {
  const read = (name: string): Promise<string> => readFile(join(testdata, name), 'utf8')
  const cases = readCases(await read('admission-cases.yaml'))
  const theirs: AdmissionAnswer[] = JSON.parse(await read('admission-answers.json'))
  const kinds = await builtinKinds()
  await using server = await startTestApiServer({
    kinds: [...kinds, ...(await karmadaKinds(kinds))],
    namespaces: ['default', caseNamespace],
    access: (objects) => ({ ...openAccess(systemClock), admission: fleetAdmission(objects) }),
  })
  const deps = { log: silentLogger, clock: systemClock, userAgent: 'test' }
  const cluster = createCluster(server.transport, deps)
  const ours = await answersOf(cases, cluster, AbortSignal.timeout(60_000))
  assert.deepEqual(
    ours.map(({ name }) => name),
    theirs.map(({ name }) => name),
  )
  for (const [at, answer] of ours.entries()) {
    const wanted = theirs[at]
    assert.ok(wanted)
    const compare = wanted.name in explained ? assert.notDeepEqual : assert.deepEqual
    compare(saidOf(answer), saidOf(wanted), answer.name)
  }
})
