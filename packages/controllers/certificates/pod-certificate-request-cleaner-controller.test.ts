import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isOld } from './pod-certificate-request-cleaner-controller.ts'

test("a pod's request for a certificate is deleted after a quarter of an hour", () => {
  const creationTimestamp = '2026-01-01T00:00:00Z'
  const request = {
    apiVersion: 'certificates.k8s.io/v1beta1',
    kind: 'PodCertificateRequest',
    metadata: { name: 'a', namespace: 'default', creationTimestamp },
  }
  const createdMs = Date.parse(creationTimestamp)
  assert.equal(isOld(request, createdMs + 899_999), false)
  assert.equal(isOld(request, createdMs + 900_000), true)
})
