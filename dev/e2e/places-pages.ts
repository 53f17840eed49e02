/** Applications in many places of a cluster on the pages of the console: units, children, differences and traffic. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { assertSound, logIn, type ConsoleScene } from './console-scene.ts'

/** The second hall has a node that nobody starts. */
const manifest = `
apiVersion: v1
kind: Node
metadata: { name: absent, labels: { hall: b } }
---
apiVersion: site.superedge.io/v1alpha2
kind: NodeUnit
metadata: { name: hall-a }
spec: { selector: { matchLabels: { hall: a } }, setNode: { labels: { floor: ground } } }
---
apiVersion: site.superedge.io/v1alpha2
kind: NodeUnit
metadata: { name: hall-x }
spec: { nodes: [nosuch], selector: { matchLabels: { hall: a } }, setNode: { labels: { floor: first } } }
---
apiVersion: superedge.io/v1
kind: DeploymentGrid
metadata: { name: web, namespace: default }
spec:
  gridUniqKey: hall
  groupPolicy: { childEdits: Keep }
  template:
    replicas: 1
    selector: { matchLabels: { app: web } }
    template:
      metadata: { labels: { app: web } }
      spec:
        terminationGracePeriodSeconds: 0
        containers:
          - name: web
            image: skerry-examples/guestbook:v1
            command: [sleep, '3600']
  templatePool:
    slow:
      replicas: 1
      selector: { matchLabels: { app: web } }
      template:
        metadata: { labels: { app: web } }
        spec:
          containers: [{ name: web, image: 'skerry-examples/guestbook:v1', command: [sleep, '60'] }]
  templates: { b: slow }
---
apiVersion: superedge.io/v1
kind: ServiceGrid
metadata: { name: web, namespace: default }
spec: { gridUniqKey: hall, template: { selector: { app: web }, ports: [{ port: 80 }] } }
`

/** Shows the places of a cluster, one application in them, and where its traffic goes. */
export async function showsPlaces(scene: ConsoleScene, page: Page): Promise<void> {
  const { browser, cloud, cluster } = scene
  const [node] = cluster.nodes
  assert.ok(node)
  await cloud.kubectl('label', 'node', node.name, 'hall=a')
  const made = await cloud.tryKubectl(['apply', '-f', '-'], { input: manifest })
  assert.equal(made.exitCode, 0, made.stderr)
  await page.goto('/console/clusters/edge/places')
  const row = (...texts: string[]) =>
    texts.reduce((rows, text) => rows.filter({ hasText: text }), page.getByRole('row')).first()
  await row('hall-a', 'NodeUnit (SuperEdge)', '1 / 1', node.name).waitFor()
  await row('hall-x', 'floor is set by unit hall-a', 'nosuch').waitFor()
  await row('web', 'DeploymentGrid', 'Nodes away', '1 / 2').waitFor({ timeout: 60_000 })
  await assertSound(browser, page, 'places')
  await page.getByRole('link', { name: 'web', exact: true }).first().click()
  await page.getByText('1 of 2 places').waitFor()
  await row('Deployment/web-a', 'Ready', '1 / 1').waitFor()
  await row('Deployment/web-b', 'Nodes away', '0 / 1').waitFor()
  await row('Deployment/web-b', '2 fields').waitFor()
  await assertSound(browser, page, 'placed-application')
  const edit = JSON.stringify({ spec: { replicas: 2 } })
  await cloud.kubectl('patch', 'deployment', 'web-a', '--type=merge', '-p', edit)
  await row('Deployment/web-a', 'Edited', '2 / 2', '1 field').waitFor()
  await page.getByRole('link', { name: 'Differences', exact: true }).click()
  await row('replicas', '1', '2', 'A change by hand').waitFor()
  await row('containers[web].command', '["sleep","60"]', 'The application').waitFor()
  await page.getByLabel('fields that only place the pods').check()
  await row('nodeSelector', '{"hall":"b"}', 'The place').waitFor()
  await assertSound(browser, page, 'placed-differences')
  await page.getByRole('link', { name: 'Traffic', exact: true }).click()
  await page.getByText('Traffic stays among nodes with the same value of hall.').waitFor()
  const place = (name: string) => page.getByRole('region', { name, exact: true })
  await place('hall=a').getByText('2 / 2').waitFor()
  await place('hall=b').getByText('nobody: connections are refused').waitFor()
  await assertSound(browser, page, 'placed-traffic')
  await fitsChinesePhone(scene, new URL(page.url()).pathname)
}

async function fitsChinesePhone({ browser, token }: ConsoleScene, traffic: string): Promise<void> {
  browser.expect(/status of 401/)
  const viewport = { width: 390, height: 844 }
  const page = await browser.tab({ colorScheme: 'light', locale: 'zh-CN', viewport })
  await logIn(page, token)
  browser.expect(undefined)
  for (const path of ['/console/clusters/edge/places', traffic, traffic.replace('/traffic', '')]) {
    await page.goto(path)
    await page
      .getByText(/hall[=-]a|web-a/)
      .first()
      .waitFor()
    const widthPx = await page.evaluate<number>('document.documentElement.scrollWidth')
    assert.ok(widthPx <= viewport.width, `${path} is ${widthPx} pixels wide`)
    await assertSound(browser, page, `phone${path.replaceAll('/', '-')}`)
  }
  await page.context().close()
}
