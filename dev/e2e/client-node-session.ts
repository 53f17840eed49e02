/**
 * Runs programs' usual calls with unmodified @kubernetes/client-node: on the host that reaches the site, with
 * the kubeconfig and the name of a pod with one container of that name as arguments. Prints its observations
 * as one JSON object.
 */
import { PassThrough, Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import {
  AppsV1Api,
  CoreV1Api,
  CustomObjectsApi,
  Exec,
  KubeConfig,
  KubernetesObjectApi,
  Log,
  PatchStrategy,
  makeInformer,
  setHeaderOptions,
  type V1ConfigMap,
  type V1Status,
} from '@kubernetes/client-node'

const namespace = 'default'
const [kubeconfig = '', pod = ''] = process.argv.slice(2)
const config = new KubeConfig()
config.loadFromFile(kubeconfig)
const core = config.makeApiClient(CoreV1Api)

async function watched(): Promise<string[]> {
  const seen: string[] = []
  const list = () => core.listNamespacedConfigMap({ namespace })
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  const informer = makeInformer<V1ConfigMap>(config, path, list)
  const { promise: gone, resolve } = Promise.withResolvers<void>()
  const note = (what: string) => (map: V1ConfigMap) => {
    if (map.metadata?.name !== 'from-client') return
    seen.push(`${what} ${map.data?.['color'] ?? ''}`)
    if (what === 'delete') resolve()
  }
  for (const what of ['add', 'update', 'delete'] as const) informer.on(what, note(what))
  await informer.start()
  await core.createNamespacedConfigMap({
    namespace,
    body: { metadata: { name: 'from-client' }, data: { color: 'red' } },
  })
  await core.patchNamespacedConfigMap(
    { namespace, name: 'from-client', body: { data: { color: 'blue' } } },
    setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
  )
  await core.deleteNamespacedConfigMap({ namespace, name: 'from-client' })
  await gone
  await informer.stop()
  return seen
}

async function applied(): Promise<unknown> {
  const objects = KubernetesObjectApi.makeApiClient(config)
  const spec = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied', namespace } }
  const body: V1ConfigMap = { ...spec, data: { a: '1' } }
  const result = await objects.patch<V1ConfigMap>(
    body,
    undefined,
    undefined,
    'client-node',
    true,
    PatchStrategy.ServerSideApply,
  )
  await objects.delete(spec)
  return result.metadata?.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`)
}

async function executed(): Promise<{ output: string; status: string | undefined }> {
  const output = new PassThrough()
  const status = Promise.withResolvers<V1Status>()
  const command = ['sh', '-c', 'echo out; echo err >&2; exit 3']
  await new Exec(config).exec(
    namespace,
    pod,
    pod,
    command,
    output,
    new Writable({ write: (_chunk, _encoding, done) => done() }),
    null,
    false,
    status.resolve,
  )
  const { details } = await status.promise
  output.end()
  return { output: (await buffer(output)).toString(), status: details?.causes?.[0]?.message }
}

async function logged(): Promise<string> {
  const output = new PassThrough()
  await new Log(config).log(namespace, pod, pod, output, { tailLines: 1 })
  return (await buffer(output)).toString()
}

async function refused(): Promise<unknown> {
  try {
    await core.readNamespacedPod({ namespace, name: 'absent' })
  } catch (error) {
    // The library's ApiException carries both.
    const { code, body } = error as { code: number; body: string }
    return { code, reason: (JSON.parse(body) as V1Status).reason }
  }
  return undefined
}

const apps = config.makeApiClient(AppsV1Api)
const custom = config.makeApiClient(CustomObjectsApi)
const seen = {
  watched: await watched(),
  applied: await applied(),
  executed: await executed(),
  logged: await logged(),
  refused: await refused(),
  deployments: (await apps.listNamespacedDeployment({ namespace, limit: 500 })).items.length,
  lamps: await custom
    .listNamespacedCustomObject({
      group: 'lantern.example.com',
      version: 'v1',
      namespace,
      plural: 'lamps',
    })
    .then((list: { kind?: string }) => list.kind),
}
process.stdout.write(JSON.stringify(seen))
