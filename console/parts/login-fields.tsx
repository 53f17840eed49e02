/** How the hub logs in to machines: a Secret that is there, or a password or key of which the form makes one. */
import type { LoginForm, LoginKind } from '../data/hub/login-secret.ts'
import { useTexts } from '../words/language.ts'
import { AreaField } from './area-field.tsx'
import { ChoiceField } from './choice-field.tsx'
import { FieldFrame, type FramedField } from './field-frame.tsx'
import { loginTexts } from './login-texts.ts'
import { TextField } from './text-field.tsx'

interface LoginFaults {
  /** Why the machine does not take the login, or the hub not the name. */
  readonly login?: string | undefined
  readonly sudo?: string | undefined
}

interface LoginFieldsProps {
  readonly login: LoginForm
  readonly onChange: (change: Partial<LoginForm>) => void
  readonly faults?: LoginFaults
  readonly placeholder?: string
}

export function LoginFields({ login, onChange, faults = {}, placeholder }: LoginFieldsProps) {
  const texts = useTexts(loginTexts)
  const kinds: readonly (readonly [LoginKind, string])[] = [
    ['secret', texts.kinds.secret],
    ['password', texts.kinds.password],
    ['key', texts.kinds.key],
  ]
  return (
    <>
      <div className="field">
        <ChoiceField
          label={texts.login}
          value={login.kind}
          choices={kinds}
          onChange={(kind) => onChange({ kind })}
        />
      </div>
      {login.kind === 'secret' ? (
        <TextField
          label={texts.secret}
          value={login.secret}
          hint={texts.secretHint}
          fault={faults.login ?? faults.sudo}
          onChange={(secret) => onChange({ secret })}
          {...(placeholder === undefined ? {} : { placeholder })}
        />
      ) : (
        <TypedLogin login={login} onChange={onChange} faults={faults} />
      )}
    </>
  )
}

function TypedLogin({ login, onChange, faults = {} }: Omit<LoginFieldsProps, 'placeholder'>) {
  const texts = useTexts(loginTexts)
  return (
    <>
      {login.kind === 'password' ? (
        <HiddenField
          label={texts.password}
          value={login.password}
          hint={texts.staysHint}
          fault={faults.login}
          onChange={(password) => onChange({ password })}
        />
      ) : (
        <>
          <AreaField
            label={texts.privateKey}
            value={login.privateKey}
            rows={3}
            hint={texts.staysHint}
            fault={faults.login}
            placeholder="-----BEGIN OPENSSH PRIVATE KEY-----"
            onChange={(privateKey) => onChange({ privateKey })}
          />
          <HiddenField
            label={texts.passphrase}
            value={login.passphrase}
            onChange={(passphrase) => onChange({ passphrase })}
          />
        </>
      )}
      <HiddenField
        label={texts.sudoPassword}
        value={login.sudoPassword}
        hint={texts.sudoHint}
        fault={faults.sudo}
        onChange={(sudoPassword) => onChange({ sudoPassword })}
      />
    </>
  )
}

interface HiddenFieldProps extends FramedField {
  readonly value: string
  readonly onChange: (value: string) => void
}

/** A password of a machine: browsers neither show it nor offer to keep it. */
function HiddenField({ value, onChange, ...framed }: HiddenFieldProps) {
  return (
    <FieldFrame {...framed}>
      {(marks) => (
        <input
          {...marks}
          type="password"
          value={value}
          autoComplete="new-password"
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </FieldFrame>
  )
}
