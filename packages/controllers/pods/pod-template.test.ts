import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodTemplateSpec } from '@skerry/api'
import { dataHash } from '../history/data-hash.ts'
import { templateHash } from './pod-template.ts'
import { quantityText } from './quantity-text.ts'

/** A template with one container, as the API server stores it. */
const template: PodTemplateSpec = {
  metadata: { labels: { app: 'web' } },
  spec: {
    containers: [
      {
        name: 'main',
        image: 'a:1',
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent',
      },
    ],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
  },
}

test('a template has the hash that upstream gives it', () => {
  assert.equal(templateHash(template, undefined), '7ffcb884f5')
  assert.notEqual(templateHash(template, 1), '7ffcb884f5')
  const data = { spec: { template: { ...template, $patch: 'replace' } } }
  assert.equal(dataHash(data, 0), '5874cc4ff8')
})

test('a quantity keeps its text where upstream keeps it', () => {
  const table: readonly (readonly [string, string, string])[] = [
    ['', '(int64)0 scale:(resource.Scale)0', 's:(string) Format:(resource.Format)'],
    ['0', '(int64)0 scale:(resource.Scale)0', 's:(string)0 Format:(resource.Format)DecimalSI'],
    ['100m', '(int64)100 scale:(resource.Scale)-3', 's:(string)100m Format'],
    ['1000', '(int64)1000 scale:(resource.Scale)0', 's:(string) Format'],
    ['64Mi', '(int64)67108864 scale:(resource.Scale)0', 's:(string) Format:(resource.Format)Bin'],
    ['10Mi', '(int64)10485760 scale:(resource.Scale)0', 's:(string)10Mi Format'],
    ['2e3', '(int64)2 scale:(resource.Scale)3', 's:(string)2e3 Format:(resource.Format)DecimalE'],
    ['4Pi', 'neg:(bool)false abs:(big.nat)[4503599627370496]', 'scale:(inf.Scale)0'],
  ]
  for (const [text, amount, rest] of table) {
    assert.ok(quantityText(text).includes(amount), `${text}: ${quantityText(text)}`)
    assert.ok(quantityText(text).includes(rest), `${text}: ${quantityText(text)}`)
  }
})
