# Every namespace has a default account; tokens in secrets are filled while theirs is there.
Show: serviceaccounts, events

### the default account is deleted
delete serviceaccounts/default
wait serviceaccounts/default metadata.uid

### the authority is deleted
delete configmaps/kube-root-ca.crt
wait configmaps/kube-root-ca.crt data

### it is changed
patch configmaps/kube-root-ca.crt {data: {other: x}, metadata: {labels: {mine: "yes"}, annotations: {kubernetes.io/description: mine}}}

### a token
create
  kind: ServiceAccount
  metadata: {name: web}
create
  kind: Secret
  metadata: {name: web-token, annotations: {kubernetes.io/service-account.name: web}}
  type: kubernetes.io/service-account-token
wait secrets/web-token data.token

### its account goes
delete serviceaccounts/web
wait secrets/web-token gone
