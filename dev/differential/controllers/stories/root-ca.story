# The authority of the API server is in every namespace, whatever people do to it.
Show: configmaps, events

### it is deleted
delete configmaps/kube-root-ca.crt
wait configmaps/kube-root-ca.crt data

### it is labelled
patch configmaps/kube-root-ca.crt {metadata: {labels: {mine: "yes"}, annotations: {kubernetes.io/description: mine}}}

### its data are changed
patch configmaps/kube-root-ca.crt {data: {"ca.crt": other, more: x}}

### another is left alone
create
  kind: ConfigMap
  metadata: {name: ca}
  data: {ca.crt: x}
patch configmaps/ca {data: {ca.crt: y}}
