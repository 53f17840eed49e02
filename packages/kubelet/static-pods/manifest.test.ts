import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseManifest } from './manifest.ts'
import { isMirror, isStatic, mirrorOf } from './static-pod-marks.ts'

const text = `
apiVersion: v1
kind: Pod
metadata: {name: proxy, namespace: kube-system}
spec: {containers: [{name: main, image: app}]}
`
const options = { file: 'proxy.yaml', nodeName: 'n1', nowMs: 0 }

test('a manifest becomes a pod of this node, completed as the API would', () => {
  const pod = parseManifest(text, options)
  assert.equal(pod.metadata.name, 'proxy-n1')
  assert.equal(pod.spec?.nodeName, 'n1')
  assert.equal(pod.spec?.restartPolicy, 'Always')
  assert.equal(pod.spec?.containers[0]?.imagePullPolicy, 'Always')
  assert.ok(isStatic(pod) && !isMirror(pod))
})

test('a changed manifest is another pod', () => {
  const one = parseManifest(text, options)
  const same = parseManifest(text, { ...options, nowMs: 5 })
  const other = parseManifest(text.replace('image: app', 'image: app:2'), options)
  assert.equal(same.metadata.uid, one.metadata.uid)
  assert.notEqual(other.metadata.uid, one.metadata.uid)
})

test('its mirror belongs to the node and is never run', () => {
  const mirror = mirrorOf(parseManifest(text, options), { name: 'n1', uid: 'node-uid' })
  assert.ok(isMirror(mirror) && !isStatic(mirror))
  assert.equal(mirror.metadata.uid, undefined)
  assert.equal(mirror.metadata.ownerReferences?.[0]?.uid, 'node-uid')
})

test('a file that is not a pod is refused by name', () => {
  assert.throws(() => parseManifest('kind: Service', options), /Cannot read proxy\.yaml/)
})

test('a static pod that refers to an object of the API is refused with that reference', () => {
  const withMap = text.replace('image: app', 'image: app, envFrom: [{configMapRef: {name: a}}]')
  assert.throws(() => parseManifest(withMap, options), {
    message: 'Cannot read proxy.yaml: static pods may not reference configmaps',
  })
})
