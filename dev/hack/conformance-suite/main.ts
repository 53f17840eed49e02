/**
 * Runs upstream's conformance tests against a site of this tree, whose nodes are hosts in network
 * namespaces of their own, and writes docs/conformance.md from the results:
 *   dev/hack/conformance [--focus <expression>] [--skip <expression>] [--no-pods] [--nodes 2]
 * Needs root, Go with its module proxy, and what a node needs. A run of a part adds to the results
 * of earlier runs; --failed runs again what failed last, --missing what never ran.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { unpackClients } from '@skerry/testing'
import { version } from '../../../roles/runtime/version.ts'
import { bundleProgram } from '../../build/bundle.ts'
import { ClusterOnHosts } from '../../e2e/cluster-on-hosts.ts'
import { suiteImages } from './build-images.ts'
import { buildSuite, suiteCache } from './build-suite.ts'
import { conformanceTests, isPodless, isSerial } from './conformance-tests.ts'
import { readLedger, recordResults, runOrigin, type RunOrigin } from './result-ledger.ts'
import { runSuite, type TestResult } from './run-suite.ts'
import { writeReport } from './write-report.ts'

const { values: options } = parseArgs({
  options: {
    focus: { type: 'string', default: '' },
    skip: { type: 'string' },
    pods: { type: 'boolean', default: true },
    nodes: { type: 'string', default: '2' },
    processes: { type: 'string', default: '6' },
    'timeout-minutes': { type: 'string', default: '60' },
    failed: { type: 'boolean', default: false },
    missing: { type: 'boolean', default: false },
    'report-only': { type: 'boolean', default: false },
  },
  allowNegative: true,
})

if (!options['report-only']) await runSelected(await selectTests())
await writeReport()

async function selectTests(): Promise<string[]> {
  const focus = new RegExp(options.focus)
  const skip = options.skip === undefined ? undefined : new RegExp(options.skip)
  const ledger = await readLedger()
  return (await conformanceTests()).filter((name) => {
    const last = ledger.get(name)
    if (!options.pods && !isPodless(name)) return false
    const isAgain = options.failed && last?.passed === false
    const isFirst = options.missing && last === undefined
    if ((options.failed || options.missing) && !isAgain && !isFirst) return false
    return focus.test(name) && skip?.test(name) !== true
  })
}

async function runSelected(tests: readonly string[]): Promise<void> {
  if (tests.length === 0) throw new RangeError('Cannot run: no conformance test matches')
  await buildSuite(['e2e.test', 'ginkgo'])
  const origin = runOrigin()
  const directory = await bundleDirectory()
  try {
    const entry = await bundleProgram({ outputDirectory: directory, version })
    const command = [process.execPath, '--disable-warning=ExperimentalWarning', entry]
    const archives = options.pods ? await suiteImages() : join(directory, 'no-images')
    await using cluster = await ClusterOnHosts.start({ command, archives })
    // The suite starts only if there is a node; without pods it runs no image.
    const nodes = options.pods ? Number(options.nodes) : 1
    for (let number = 1; number <= nodes; number++) await cluster.addNode(number)
    console.error(
      `${tests.length} tests; run ${process.pid}, logs of the roles are in ${cluster.directory}`,
    )
    await runParts(cluster, tests, origin)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Creates a directory in which the program finds the npm packages that a bundle leaves out. */
async function bundleDirectory(): Promise<string> {
  await mkdir(suiteCache, { recursive: true })
  return mkdtemp(join(suiteCache, 'bundle-'))
}

async function runParts(
  cluster: ClusterOnHosts,
  tests: readonly string[],
  origin: RunOrigin,
): Promise<void> {
  const { kubectl } = await unpackClients()
  const parts = [
    { tests: tests.filter((name) => !isSerial(name)), processes: Number(options.processes) },
    { tests: tests.filter(isSerial), processes: 1 },
  ]
  for (const part of parts) {
    if (part.tests.length === 0) continue
    const results = await runSuite({
      ...part,
      host: cluster.siteHost,
      kubeconfig: cluster.kubeconfig,
      kubectl,
      timeoutMinutes: Number(options['timeout-minutes']),
    })
    await recordResults(results, origin)
    printSummary(results, part.tests.length)
  }
}

function printSummary(results: readonly TestResult[], wanted: number): void {
  for (const { name, passed, message } of results) {
    if (!passed) console.error(`FAILED ${name}\n  ${message.split('\n').slice(0, 6).join('\n  ')}`)
  }
  const passed = results.filter((result) => result.passed).length
  console.error(`${passed} of ${results.length} passed; ${wanted - results.length} did not run`)
}
