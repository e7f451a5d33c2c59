//! Counts what a client asks of the cluster.

use kube::Client;
use kube::client::Body;
use tower::service_fn;

use super::Metrics;

impl Metrics {
    /// The same client, whose requests are counted under the name of this host.
    pub fn counting(&self, client: Client, host: String) -> Client {
        let (metrics, namespace) = (self.clone(), client.default_namespace().to_owned());
        let service = service_fn(move |request: http::Request<Body>| {
            let (client, metrics, host) = (client.clone(), metrics.clone(), host.clone());
            async move {
                let method = request.method().to_string();
                let answer = client.send(request).await;
                if let Ok(answer) = &answer {
                    metrics.count_request(answer.status().as_u16(), &method, &host);
                }
                answer
            }
        });
        Client::new(service, namespace)
    }
}
