import { labelNodes, untilClosed, untilRolledOut, type Places } from './places.ts'
import { publishedFile } from './published-text.ts'

const source = { module: 'github.com/superedge/superedge', version: 'v0.9.0' } as const

/** Plays the samples of application-grid: a Deployment, then a StatefulSet, in each place behind one service. */
export async function playSuperedge(places: Places): Promise<void> {
  const { cluster } = places
  const sample = (name: string): Promise<string> =>
    publishedFile({ ...source, path: `sample/application-grid/${name}.yaml` })
  await labelNodes(places, places.first, 'zone=zone-0')
  await labelNodes(places, places.second, 'zone=zone-1')
  await cluster.apply(await sample('servicegrid'))
  for (const [file, kind, name] of [
    ['deploygrid', 'deployment', 'deploymentgrid-demo'],
    ['statefulsetgrid', 'statefulset', 'statefulsetgrid-demo'],
  ] as const) {
    await cluster.apply(await sample(file))
    for (const zone of ['zone-0', 'zone-1']) await untilRolledOut(places, `${kind}/${name}-${zone}`)
    await untilClosed(places, 'servicegrid-demo-svc')
    await cluster.kubectl('delete', `${kind}grid`, name)
    await cluster.waitFor('its pods to go', async () =>
      (await cluster.kubectl('get', 'pods', '-o', 'name')) === '' ? true : undefined,
    )
  }
  await cluster.kubectl('delete', 'servicegrid', 'servicegrid-demo')
}
