import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { TestHost } from '@skerry/testing'
import { suiteCache } from './build-suite.ts'

/** The result of one test of the suite. */
export interface TestResult {
  name: string
  passed: boolean
  seconds: number
  /** The suite's message about a failure; empty otherwise. */
  message: string
}

export interface SuiteRun {
  /** Where the tests run. */
  host: Pick<TestHost, 'start'>
  kubeconfig: string
  kubectl: string
  /** The exact names of the tests. */
  tests: readonly string[]
  /** The number of processes that share the tests; 1 for tests that must run alone. */
  processes: number
  timeoutMinutes: number
}

/** One report of ginkgo's JSON format, as far as it is read here. */
interface GinkgoReport {
  SpecReports: {
    ContainerHierarchyTexts: string[] | null
    LeafNodeText: string
    LeafNodeType: string
    State: string
    /** The run time in nanoseconds. */
    RunTime: number
    Failure?: { Message?: string; Location?: { FileName?: string; LineNumber?: number } }
  }[]
}

/** Runs the named tests in the host; what never started is not among the results. */
export async function runSuite(run: SuiteRun): Promise<TestResult[]> {
  const part = run.processes === 1 ? 'serial' : 'parallel'
  const directory = join(suiteCache, 'runs', String(process.pid), part)
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { recursive: true })
  const child = run.host.start(suiteCommand(run, directory), {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: directory,
    env: { ...process.env, HOME: directory, KUBECACHEDIR: join(directory, 'kube-cache') },
  })
  const ended = new Promise<void>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', () => resolve())
  })
  if (child.stdout !== null) {
    await pipeline(child.stdout, createWriteStream(join(directory, 'output.log')))
  }
  await ended
  return readReport(join(directory, 'report.json'))
}

function suiteCommand(run: SuiteRun, directory: string): string[] {
  const bin = join(suiteCache, 'bin')
  return [
    join(bin, 'ginkgo'),
    'run',
    `--procs=${run.processes}`,
    `--timeout=${run.timeoutMinutes}m`,
    '--no-color',
    '--silence-skips',
    '--poll-progress-after=120s',
    '--json-report=report.json',
    '--junit-report=junit.xml',
    `--output-dir=${directory}`,
    ...run.tests.map((name) => `--focus=${escapeExpression(name)}$`),
    join(bin, 'e2e.test'),
    '--',
    `--kubeconfig=${run.kubeconfig}`,
    `--kubectl-path=${run.kubectl}`,
    '--provider=skeleton',
  ]
}

function escapeExpression(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}

async function readReport(path: string): Promise<TestResult[]> {
  const text = await readFile(path, 'utf8')
  // ginkgo has just written this file, whose format it documents.
  const reports = JSON.parse(text) as GinkgoReport[]
  return reports
    .flatMap((report) => report.SpecReports)
    .filter(({ LeafNodeType, State }) => LeafNodeType === 'It' && !untoldStates.has(State))
    .map((spec) => ({
      name: [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].join(' '),
      passed: spec.State === 'passed',
      seconds: Math.round(spec.RunTime / 1e9),
      message: spec.State === 'passed' ? '' : failureText(spec),
    }))
}

/** The states without information about the server: not selected, or stopped by the user. */
const untoldStates: ReadonlySet<string> = new Set(['skipped', 'pending', 'interrupted'])

function failureText({ State, Failure }: GinkgoReport['SpecReports'][number]): string {
  const file = Failure?.Location?.FileName?.replace(/^.*kubernetes@[^/]+\//, '') ?? ''
  const message = (Failure?.Message ?? State).trim()
  return `${message} (${file}:${Failure?.Location?.LineNumber ?? 0})`
}
