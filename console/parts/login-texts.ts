import { inBoth } from '../words/language.ts'

export const loginTexts = inBoth({
  en: {
    login: 'Login',
    kinds: { secret: 'A Secret that is there', password: 'Password', key: 'Private key' },
    secret: 'Secret with the login',
    secretHint: 'It has ssh-privatekey or password, and lies in the same namespace.',
    password: 'Password',
    privateKey: 'Private key',
    passphrase: 'Passphrase of the key',
    sudoPassword: 'Password for sudo',
    sudoHint: 'If it is another one. root needs none.',
    staysHint: 'The hub keeps it in a Secret, which goes when the cluster is deleted.',
  },
  zh: {
    login: '登录方式',
    kinds: { secret: '已有的 Secret', password: '密码', key: '私钥' },
    secret: '登录凭据的 Secret',
    secretHint: '包含 ssh-privatekey 或 password，位于同一命名空间。',
    password: '密码',
    privateKey: '私钥',
    passphrase: '私钥口令',
    sudoPassword: 'sudo 密码',
    sudoHint: '与登录密码不同时填写。root 不需要。',
    staysHint: '中心将其保存在 Secret 中，删除集群时一并删除。',
  },
})
