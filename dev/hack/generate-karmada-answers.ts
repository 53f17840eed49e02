/**
 * Writes packages/karmada-kinds/admission/testdata/admission-answers.json: the answers of Karmada's own servers to each
 * of admission-cases.yaml. Development only; needs what dev/hack/upstream builds.
 *   node dev/hack/generate-karmada-answers.ts
 * The test next to them sends our server the same requests.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { silentLogger, systemClock, systemRandom } from '@skerry/base'
import {
  createCluster,
  createHttpsTransport,
  loadKubeconfig,
  resources,
  type ClusterClient,
} from '@skerry/client'
import {
  answersOf,
  caseNamespace,
  readCases,
  type AdmissionAnswer,
} from '../../packages/karmada-kinds/admission/testing/admission-cases.ts'
import { buildUpstream } from './upstream/build-upstream.ts'
import { buildKarmada, karmadaPrograms } from './upstream/karmada-build.ts'
import { startKarmada } from './upstream/karmada-run.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'facts' }
const testdata = join(import.meta.dirname, '../../packages/karmada-kinds/admission/testdata')
const timeoutMs = 240_000
/** The time after which Karmada's webhooks have watched a written object. */
const settleMs = 100

await using stack = new AsyncDisposableStack()
const directory = await mkdtemp(join(tmpdir(), 'skerry-karmada-answers-'))
stack.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
const karmada = stack.use(
  await startKarmada({
    upstreamBin: await buildUpstream([
      'etcd',
      'kube-apiserver',
      'kube-controller-manager',
      'kubectl',
    ]),
    bin: await buildKarmada(karmadaPrograms.filter((each) => each !== 'karmada-search')),
    directory,
    bindAddress: '127.0.0.1',
    withSearch: false,
  }),
)
const { transport } = await loadKubeconfig(karmada.kubeconfigPath, {}, { ...deps, environment: {} })
const fleet: ClusterClient = createCluster(stack.use(createHttpsTransport(transport, deps)), deps)
const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: caseNamespace } }
await fleet.resource(resources.namespaces).create(namespace, AbortSignal.timeout(timeoutMs))
const cases = readCases(await readFile(join(testdata, 'admission-cases.yaml'), 'utf8'))
const answers: AdmissionAnswer[] = await answersOf(
  cases,
  fleet,
  AbortSignal.timeout(timeoutMs),
  () => sleep(settleMs),
)
const lines = answers.map((answer) => JSON.stringify(answer))
await writeFile(join(testdata, 'admission-answers.json'), `[\n${lines.join(',\n')}\n]\n`)
console.log(`${answers.length} answers`)
