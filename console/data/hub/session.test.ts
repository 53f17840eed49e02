import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loginAddress, takeLoginCode, takeLoginProblem } from './session.ts'

test('a login code is taken from the fragment, and the address that stays is free of it', () => {
  assert.deepEqual(takeLoginCode('https://hub:7443/console/#code=abc-1'), {
    code: 'abc-1',
    cleanUrl: '/console/',
  })
  assert.deepEqual(takeLoginCode('https://hub:7443/console/clusters?q=a#code=x'), {
    code: 'x',
    cleanUrl: '/console/clusters?q=a',
  })
})

test('an address without a code is left alone', () => {
  for (const hash of ['', '#', '#code=', '#other=1']) {
    assert.equal(takeLoginCode(`https://hub:7443/console/${hash}`), undefined)
  }
})

test('a login at the issuer leads back to the page that was asked for', () => {
  const offered = '/hub/v1/session/login?return=%2Fconsole%2F'
  assert.equal(
    loginAddress(offered, 'https://hub:7443/console/clusters?q=a b#x'),
    '/hub/v1/session/login?return=%2Fconsole%2Fclusters%3Fq%3Da%2520b',
  )
})

test('a login that failed at the issuer has its reason, and the page that was asked for', () => {
  const of = (query: string) => takeLoginProblem(`https://hub:7443/console/login?${query}`)
  assert.deepEqual(of('problem=expired'), { problem: 'expired', cleanUrl: '/console/' })
  assert.deepEqual(of('problem=issuer&return=%2Fconsole%2Fclusters%3Fq%3Da'), {
    problem: 'issuer',
    cleanUrl: '/console/clusters?q=a',
  })
  for (const page of ['https://evil.example.com/', '//evil.example.com/console/', '/clusters/a']) {
    const { cleanUrl } = of(`problem=issuer&return=${encodeURIComponent(page)}`) ?? {}
    assert.equal(cleanUrl, '/console/', page)
  }
  assert.equal(of('problem=other'), undefined)
  assert.equal(takeLoginProblem('https://hub:7443/console/clusters?problem=issuer'), undefined)
})
