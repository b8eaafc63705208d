"""The rules by which the pages of any service are told apart (F6): data, one table for each state.

Seven is enough. What decides alone weighs that or more; what needs another sign beside it less;
what is also found on other pages (a link to sign in, a plan's name) two or three. UNKNOWN has rules
as well: articles, shops and the like talk about all of this without being any of it. Visible text
includes headings and buttons, so what a heading says is counted there too, where both ask for it.
"""

from collections.abc import Iterator

from rutter.events.checks import PageState
from rutter.events.service_pack import Sign, StateRule, Where

RULES_VERSION = "2"
# Between phrases of one sign of which any will do: no page or service writes it.
OR = " \N{DOUBLE VERTICAL LINE} "


def _says(where: Where, phrases: str) -> tuple[Sign, ...]:
    return tuple(Sign(where, " ".join(each.split())) for each in phrases.split("|"))


def _one_of(where: Where, phrases: str) -> tuple[Sign]:
    """One sign that any of the phrases makes."""
    return (Sign(where, OR.join(" ".join(each.split()) for each in phrases.split("|"))),)


def _each(
    state: PageState,
    weight: int,
    where: Where,
    phrases: str,
    *,
    also: tuple[Sign, ...] = (),
    unless: tuple[Sign, ...] = (),
) -> Iterator[StateRule]:
    """A rule for each of the phrases."""
    for sign in _says(where, phrases):
        yield StateRule(state, (sign, *also), weight, unless)


# ---- what the visible text says -----------------------------------------------------------------

# The page is searched for these as they are written, not by words: a stem stands for all its
# endings. There is room for some hundreds, so the languages share what they can.
_TEXT_SIGN_IN = """session has expired | session expired | session has timed | been signed out
    | been logged out | not signed in | not logged in | in to continue | in to view
    | in to access | in to manage | in again | please sign in | please log in | be logged in to
    | must sign in | must log in | need to sign in | need to log in | sitzung | bitte melde
    | melden sie sich | abgemeldet | session a expiré | session expirée | veuillez vous connecter
    | devez vous connecter | connectez-vous pour | sesión ha | inicia sesión para"""
_TEXT_RENEWS = """next bill | next payment | next charge | next renewal | will renew
    | renewal date | automatically renew | auto-renew: on | be charged on | trial ends
    | nächste abrechnung | nächste zahlung | nächste abbuchung | nächste rechnung
    | verlängert sich | prochain paiement | prochaine fact | prochain prélèvement | se renouvelle
    | próximo pago | próximo cobro | se renueva | renews | renewal:"""
_TEXT_RUNS = """current plan | active plan | active subscription | status: active | status active
    | subscription is active | membership is active | plan is active | active since
    | member since | current membership | current subscription | ist aktiv | mitglied seit
    | membre depuis"""
_TEXT_ENDED = """ship has been cancel | tion has been cancel | is cancel | was cancel
    | status: cancel | cancelled on | canceled on | you cancelled | already cancel
    | already been cancel | ve cancelled | wurde gekündigt | ist gekündigt | bereits gekündigt
    | gekündigt zum | a été résili | a été annul | est résili | ha sido cancelad | está cancelad
    | se ha cancelado | subscription cancelled | membership cancelled | plan cancelled"""
_TEXT_RUN_OUT = """no active subscription | no active membership | no active plan
    | have an active sub | have an active mem | no longer active | no longer a member
    | subscription has ended | membership has ended | plan has ended | subscription ended
    | membership ended | subscription has expired | membership has expired | plan has expired
    | subscription expired | is inactive | kein aktives abo | nicht mehr aktiv
    | aucun abonnement actif | abonnement a expiré | suscripción ha caducado"""
_TEXT_ENDING = """ends on | will end on | membership ends | subscription ends | plan ends
    | expires on | will expire | set to cancel | scheduled to | set to expire | not renew
    | won't renew | not be renewed | auto-renew is off | auto-renewal is off | access ends
    | active until | access until | endet am | endet zum | nicht verlängert | aktiv bis
    | prend fin le | prendra fin | se termin | expire le | pas renouvelé | finaliza el
    | finalizará | no se renovará | jusqu'au"""
_TEXT_BILLED = """billed through | billed via | billed by | billing is managed
    | billing is handled | billing is through | billed to your | charged through | managed by
    | managed through | managed via | subscribed through | subscribed via | signed up through
    | signed up via | purchased through | purchased via | bought through | started through
    | set up through | joined through | pay through | paying through | payment is handled by
    | payments are handled by | in your package | with your package | of your package
    | part of a package | part of a bundle | included with your mobile | third-party bill
    | third party bill | billing partner | partner billing | contact your provider
    | contact your carrier | contact your mobile | contact them | cancel it here | cancelled here
    | canceled here | cancel directly with | cancel through your | managed here
    | abgerechnet über | abrechnung erfolgt | über apple | über itunes | über google play
    | über amazon | über einen partner | über deinen anbieter | über ihren anbieter | facturé par
    | facturé via | est géré | souscrit via | souscrit auprès | par l'intermédiaire
    | votre opérateur | factura a través | facturad | a través de apple | a través de google
    | a través de itunes | a través de amazon | gestionada por | tu operador | as part of your
    | to change or cancel | über drittanbieter | manages your billing | cancel there"""
_TEXT_SELLERS = """subscribed with | signed up with | apple id | prime channels | handled by
    | tv provider | mobile provider | cancel it there | where you signed up
    | where you subscribed | where you purchased | to make changes | third-party | läuft über
    | on us with your | through apple | through itunes | through the app store | through google
    | through roku | through amazon | through your | through a partner | through our partner
    | through a third | via apple | via itunes | via the app store | via google play
    | via amazon | via roku | can cancel it | reseller can"""
_TEXT_LEAVING = """before you go | before you leave | before you cancel | instead of cancel
    | stay and save | if you stay | see you go | to lose you | thinking of leaving | stay with us
    | you to stay | off your next | off for | months at | months free | pause your | take a break
    | an offer | loyal | bevor | wenn du bl | wenn sie bl | statt zu kündigen | pausieren
    | avant de partir | si vous restez | au lieu de | antes de irte | si te quedas
    | en lugar de cancelar | and stay"""
_TEXT_WHY = """why are you | why you | why did you | why do you | reason you
    | cancellation reason | exit survey | tell us why | know why | made you | main reason
    | primary reason | a reason | what could we have | do better | warum | kündigungsgrund
    | grund für | pourquoi | raison de votre | motif de | por qué | motivo de | reason for"""
_TEXT_NO_WAY_BACK = """lose access | by placing | by clicking | by confirming | by cancel
    | if you cancel | once you cancel | cancellation will | cancellation takes effect
    | led at the end | order total | will be charged | to confirm, type | sie wirklich
    | du wirklich | verlierst du | vous perdrez | prendra effet | perderás | please confirm"""
_TEXT_FOR_GOOD = """be undone | t undo | irreversible | permanently | be reversed | be recovered
    | are you sure | nicht rückgängig | unwiderruflich | sind sie sicher | bist du sicher
    | irréversible | êtes-vous sûr | voulez-vous vraiment | no se puede deshacer | estás segur
    | está seguro | seguro que"""
_TEXT_DONE = """confirmation email | sent you an email | email confirmation | emailed you
    | ve emailed | sent a confirmation | sent you a confirmation | been sent
    | confirmation number | order number | reference number | confirmation code
    | booking reference | transaction id | successfully | have been saved | changes saved
    | has been submitted | has been processed | has been placed | has been received
    | has been deleted | has been updated | has been confirmed | has been closed | can close this
    | was received | was successful | be charged again | be billed again | no further charges
    | no further payments | received your | thank you for being | thanks for being
    | see you again | come back anytime | estimated delivery | bestätigung per | bestätigungs
    | bestellnummer | erfolgreich | de confirmation | numéro de commande | avec succès
    | plus facturé | plus débité | bien été | correo de confirmación | número de pedido
    | con éxito | no se te cobrará | confirmation sent | eine e-mail geschickt
    | enviado un correo | enviamos un correo | on its way | got your | we have sent | we've sent
    | have processed | emailed to | eine e-mail | un correo | un courriel | hemos mandado"""
_TEXT_ERROR = """something went wrong | try again later | error occurred | error has occurred
    | unexpected error | there was a problem | there was an error | we couldn't | we could not
    | t be completed | declined | try again in | not process your | unable to | not been cancel
    | no changes were made | not been charged | page you | been moved | no longer exists
    | existiert nicht | n'existe pas | no existe | error code | been notified | permission to
    | insufficient funds | different card | später erneut | erneut versuchen
    | fehler ist aufgetreten | abgelehnt | plus tard | erreur | réessayer | de nuevo
    | ha ocurrido un error | no se pudo | rechazad | internet connection
    | temporarily unavailable | not found"""
_TEXT_ARTICLE = """helpful? | hilfreich? | utile ? | útil? | answer your question | min read
    | minute read | in this article | related articles | leave a comment | leave a reply
    | share this article | share this post
    | posted by | posted on | published on | written by | about the author | lesezeit
    | article vous a | de lectur | resultado útil"""

# ---- signing in ---------------------------------------------------------------------------------

# Where a password is set or changed somebody is signed in already, or not yet known at all.
_NEW_PASSWORD = _says(
    "field",
    """new password | confirm password | repeat password | re-enter password | current password
    | create password | create a password | choose a password | confirm your password
    | verify password | old password | password confirmation | password again | retype password
    | neues passwort | passwort wiederholen
    | passwort bestätigen | aktuelles passwort | nouveau mot de passe
    | confirmer le mot de passe | confirmez le mot de passe | mot de passe actuel
    | nueva contraseña | confirmar contraseña | repetir contraseña | contraseña actual""",
)
_PASSWORD = """password | passcode | passwort | kennwort | mot de passe | contraseña | clave"""
_SIGN_IN = """sign in | log in | login | signin | log on | logon | anmelden | anmeldung
    | einloggen | connexion | se connecter | connectez vous | connecte toi | identifiez vous
    | iniciar sesión | inicia sesión | inicie sesión | inicio de sesión | acceder | accede
    | log into | sign into | members only | member login | se reconnecter | reconnectez vous"""
_SIGN_IN_FIRST = """session has expired | session expired | session timed out
    | session has timed out | session has ended | signed out due to inactivity
    | logged out due to inactivity | you have been signed out | you have been logged out
    | you've been signed out | you've been logged out | you are now signed out
    | you were signed out | you were logged out | you are not signed in | you are not logged in
    | you're not signed in | you're not logged in | sign in to continue | log in to continue
    | sign in to view | log in to view | sign in to access | log in to access
    | sign in to manage | log in to manage | sign in again | log in again | please sign in
    | please log in | must be logged in | must be signed in | must sign in | must log in
    | need to sign in | need to log in | need to be signed in | need to be logged in
    | login required | sign in required | sign-in required | authentication required
    | sitzung ist abgelaufen | sitzung abgelaufen | bitte melden sie sich | bitte melde dich
    | melden sie sich an | melde dich an | bitte einloggen | bitte loggen sie sich
    | wurden abgemeldet | wurdest abgemeldet | session a expiré | session expirée
    | veuillez vous connecter | veuillez vous identifier | connectez-vous pour
    | vous devez vous connecter | vous devez être connecté | vous avez été déconnecté
    | sesión ha caducado | sesión ha expirado | sesión caducada | sesión expirada
    | inicia sesión para | inicie sesión para | debes iniciar sesión | debe iniciar sesión
    | se ha cerrado la sesión"""
_PROVE = """single sign on | verify it's you | verify that it's you | verify your identity
    | two-step verification | 2-step verification | two-factor authentication | enter the code
    | enter your code | enter verification code | enter your verification code | enter code
    | enter your pin | confirm it's you | confirm your identity | choose an account
    | pick an account | enter your password | enter password | check your email
    | check your inbox | bestätigungscode eingeben | code eingeben | identität bestätigen
    | saisissez le code | entrez le code | vérifiez votre identité | introduce el código
    | ingresa el código | verifica tu identidad | you a code | confirm access
    | confirm your password | re enter your password"""

_LOGIN = (
    *_each("LOGIN_REQUIRED", 5, "title", _SIGN_IN),
    *_each("LOGIN_REQUIRED", 7, "heading", _SIGN_IN),
    *_each("LOGIN_REQUIRED", 4, "heading", "welcome back | willkommen zurück | bon retour"),
    *_each("LOGIN_REQUIRED", 2, "button", _SIGN_IN),
    *_each(
        "LOGIN_REQUIRED",
        7,
        "field",
        _PASSWORD + " | pin",
        unless=_NEW_PASSWORD,
    ),
    *_each(
        "LOGIN_REQUIRED",
        2,
        "field",
        """email | e mail | username | user name | user id | mobile number | phone number
        | benutzername | adresse mail | adresse électronique | identifiant | nom d'utilisateur
        | correo electrónico | correo | usuario | kundennummer""",
        unless=_NEW_PASSWORD,
    ),
    *_each(
        "LOGIN_REQUIRED",
        4,
        "field",
        """remember me | remember this device | keep me signed in | keep me logged in
        | stay signed in | stay logged in | trust this device | angemeldet bleiben
        | eingeloggt bleiben | se souvenir de moi | rester connecté | recuérdame | recordarme
        | mantener sesión iniciada""",
    ),
    *_each(
        "LOGIN_REQUIRED",
        6,
        "field",
        """verification code | one time code | one time passcode | authentication code
        | security code we sent | # digit code | login code | sign in code | bestätigungscode
        | code de vérification | código de verificación""",
    ),
    *_each(
        "LOGIN_REQUIRED",
        3,
        "button",
        """forgot pin | forgot your pin | forgot password | forgot your password
        | forgotten password | forgotten your password | forgot my password | forgot username
        | reset password | trouble signing in | trouble logging in | help signing in
        | can't sign in | can't access your account | passwort vergessen | kennwort vergessen
        | mot de passe oublié | olvidaste tu contraseña | olvidé mi contraseña
        | has olvidado tu contraseña | olvidó su contraseña""",
    ),
    *_each(
        "LOGIN_REQUIRED",
        3,
        "button",
        """continue with google | continue with apple | continue with facebook
        | continue with microsoft | continue with email | continue with sso | sign in with
        | log in with | login with | single sign on | use a passkey | resend code
        | resend the code | send a new code | email me a link | email me a sign in link
        | send magic link | use another account | mit google fortfahren | mit apple anmelden
        | mit google anmelden | continuer avec google | se connecter avec
        | continuar con google | iniciar sesión con""",
    ),
    *_each("LOGIN_REQUIRED", 6, "text", _TEXT_SIGN_IN),
    *_each("LOGIN_REQUIRED", 5, "text", "in to see this"),
    *_each("LOGIN_REQUIRED", 15, "heading", _SIGN_IN_FIRST),
    *_each("LOGIN_REQUIRED", 8, "alert", _SIGN_IN_FIRST),
    *_each("LOGIN_REQUIRED", 7, "heading", _PROVE),
    *_each("LOGIN_REQUIRED", 4, "title", _PROVE),
    *_each(
        "LOGIN_REQUIRED",
        4,
        "text",
        """to sign in | to log in | log in or sign up | you a code
        | confirm your identity | sent a code | code we sent
        | verification code | enter the code | authenticator app | sign-in link | magic link
        | incorrect password | wrong password | or password""",
    ),
    *_each(
        "LOGIN_REQUIRED",
        2,
        "url",
        """login | signin | sign in | log in | auth | authenticate | sso | anmelden | connexion
        | iniciar sesion | logout | signout""",
    ),
)

# ---- an account with a plan that runs -----------------------------------------------------------

_CANCEL_IT = """cancel membership | cancel subscription | cancel plan | cancel my membership
    | cancel my subscription | cancel my plan | cancel your membership
    | cancel your subscription | cancel your plan | cancel service | cancel my service
    | cancel auto renewal | cancel renewal | cancel trial | cancel free trial | cancel premium
    | cancel account | turn off auto renew | turn off auto renewal | end membership
    | end subscription | end my subscription | unsubscribe from plan | mitgliedschaft kündigen
    | mitgliedschaft beenden | abo kündigen | abonnement kündigen | vertrag kündigen
    | abo beenden | tarif kündigen | jetzt kündigen | kündigen | résilier
    | résilier mon abonnement | résilier l'abonnement | annuler mon abonnement
    | annuler l'abonnement | annuler votre abonnement | se désabonner | arrêter mon abonnement
    | cancelar suscripción | cancelar la suscripción | cancelar mi suscripción
    | cancelar membresía | cancelar mi membresía | cancelar plan | cancelar mi plan
    | cancelar abono | darse de baja | darme de baja | cancel contract | cancel my contract
    | cancel donation | cancel my donation | cancel monthly donation | cancel policy
    | cancel insurance | cancel order subscription | cancel service plan | end contract
    | verträge kündigen | résilier le contrat | cancelar contrato"""
_ITS_PLACE = """account | my account | your account | membership | my membership
    | your membership | subscription | subscriptions | my subscription | your subscription
    | billing | my plan | your plan | current plan | plan details | plan | konto | mein konto
    | mitgliedschaft | abo | mein abo | abonnement | mon abonnement | mon compte
    | votre abonnement | suscripción | mi suscripción | mi cuenta | tu suscripción | tu cuenta
    | membresía | tarif | facturación | facturation | contract | contract details | payment
    | vertrag | contrat | contrato | donation"""

_ACTIVE = (
    *_each("ACCOUNT_ACTIVE", 6, "button", _CANCEL_IT),
    *_each(
        "ACCOUNT_ACTIVE",
        3,
        "button",
        """cancel subscription | cancel membership | cancel plan | cancel my plan
        | cancel my subscription | cancel my membership | kündigen | résilier
        | cancelar suscripción""",
        also=_says("heading", "account"),
    ),
    *_each("ACCOUNT_ACTIVE", 5, "text", _TEXT_RENEWS, also=_says("button", "cancel")),
    *_each(
        "ACCOUNT_ACTIVE",
        4,
        "text",
        """/month | per month | a month | /mo | monthly | per year | /year | im monat
        | par mois | al mes""",
        also=_says("button", "cancel"),
    ),
    *_each("ACCOUNT_ACTIVE", 2, "heading", _ITS_PLACE),
    *_each(
        "ACCOUNT_ACTIVE",
        3,
        "heading",
        """manage subscription | manage your subscription | manage membership
        | membership and billing | membership billing | plan and billing | plan billing
        | billing and plan | billing plan | billing and payments | subscription details
        | subscription and billing | subscription billing | active subscription
        | active subscriptions | active plan | abo verwalten | abonnement verwalten
        | abo und zahlung | gérer mon abonnement | gérer l'abonnement | gestionar suscripción
        | administrar suscripción""",
    ),
    *_each(
        "ACCOUNT_ACTIVE",
        2,
        "title",
        """account | membership | subscription | subscriptions | billing | my plan | your plan
        | konto | mitgliedschaft | abo | abonnement | mon compte | mi cuenta | suscripción""",
    ),
    *_each(
        "ACCOUNT_ACTIVE",
        2,
        "button",
        """change plan | change your plan | change my plan | upgrade plan | upgrade your plan
        | switch plan | switch plans | manage plan | manage subscription | manage membership
        | update payment method | update payment | update payment info | update card
        | change payment method | manage payment | manage payment method
        | manage payment methods | edit payment method | billing history | payment history
        | billing details | view invoices | invoices | download invoice | add extra member
        | pause subscription | pause membership | pause plan | pause my subscription
        | tarif wechseln | plan ändern | abo ändern | zahlungsmethode ändern
        | zahlungsart ändern | rechnungen | abo pausieren | abo verwalten | changer de forfait
        | changer d'offre | modifier le moyen de paiement | mode de paiement | factures
        | historique de facturation | cambiar de plan | cambiar plan | método de pago
        | actualizar forma de pago | historial de pagos | facturas""",
    ),
    *_each("ACCOUNT_ACTIVE", 5, "text", _TEXT_RENEWS, unless=_says("text", "sich nicht")),
    *_each(
        "ACCOUNT_ACTIVE",
        3,
        "text",
        _TEXT_RUNS,
    ),
    *_each(
        "ACCOUNT_ACTIVE",
        1,
        "url",
        """account | subscription | subscriptions | membership | billing | youraccount
        | my account | konto | abo | compte | cuenta | plan""",
    ),
)

# ---- an account whose plan was ended ------------------------------------------------------------

_IS_ENDED = """has been cancelled | has been canceled | is cancelled | is canceled
    | was cancelled | was canceled | subscription cancelled | subscription canceled
    | membership cancelled | membership canceled | plan cancelled | plan canceled
    | status: cancelled | status: canceled | status cancelled | status canceled | cancelled on
    | canceled on | you cancelled | you canceled | already cancelled | already canceled
    | already been cancelled | already been canceled | you've cancelled | you've canceled
    | wurde gekündigt | ist gekündigt | bereits gekündigt | hast gekündigt | gekündigt zum
    | gekündigt am | status: gekündigt | haben gekündigt | a été résilié | a été résiliée
    | a été annulé | a été annulée | est résilié | est annulé | abonnement résilié
    | abonnement annulé | avez résilié | ha sido cancelada | ha sido cancelado | está cancelada
    | está cancelado | se canceló | fue cancelada | fue cancelado | suscripción cancelada
    | membresía cancelada | has cancelado | se ha cancelado | cancelada el"""
_HAS_RUN_OUT = """no active subscription | no active membership | no active plan
    | don't have an active | do not have an active | don't have any active | you have no active
    | no longer active | no longer a member | no longer subscribed | not currently subscribed
    | subscription has ended | membership has ended | plan has ended | subscription ended
    | membership ended | plan ended | subscription has expired | membership has expired
    | plan has expired | subscription expired | membership expired | plan expired
    | subscription is inactive | membership is inactive | status: expired | status: inactive
    | status: ended | account is inactive | former member | trial has ended | free trial ended
    | kein aktives abo | kein aktives abonnement | keine aktive mitgliedschaft
    | abo ist abgelaufen | mitgliedschaft ist abgelaufen | abo ist beendet | nicht mehr aktiv
    | pas d'abonnement actif | aucun abonnement actif | abonnement a expiré | abonnement expiré
    | abonnement est terminé | n'est plus actif | no tienes una suscripción activa
    | sin suscripción activa | suscripción ha caducado | suscripción ha expirado
    | suscripción ha finalizado | ya no está activa"""
_AGAIN = """restart | resubscribe | re subscribe | reactivate | rejoin | re activate
    | renew subscription | renew membership | renew my subscription | renew your subscription
    | renew my membership | renew your membership | renew plan | resume subscription
    | resume membership | resume plan | resume my subscription | resume my membership
    | resume my plan | resume your subscription | undo cancellation | undo cancelation
    | undo cancel | reverse cancellation | revoke cancellation | withdraw cancellation
    | restore subscription | restore membership | restore plan | restore my subscription
    | restore my plan | come back | turn auto renew on | turn on auto renew
    | turn on auto renewal | auto renewal on | auto renew on | enable auto renew
    | enable auto renewal | start membership
    | subscribe again | join again | continue subscription | continue membership
    | keep subscription active | uncancel | don't cancel | do not cancel | neu starten
    | reaktivieren | erneut abonnieren | wieder abonnieren | abo fortsetzen
    | mitgliedschaft fortsetzen | kündigung zurücknehmen | kündigung widerrufen
    | kündigung rückgängig machen | mitgliedschaft erneuern | abo erneuern | réactiver
    | relancer | redémarrer | se réabonner | réabonnez vous | reprendre mon abonnement
    | reprendre l'abonnement | annuler la résiliation | reactivar | reanudar | reiniciar
    | volver a suscribirme | volver a suscribirse | suscribirse de nuevo | renovar suscripción
    | deshacer cancelación | retomar suscripción | réabonner | restart with
    | à nouveau | doch verlängern | upgrade again"""

_CANCELLED = (
    *_each("ACCOUNT_CANCELLED", 6, "text", _TEXT_ENDED),
    *_each("ACCOUNT_CANCELLED", 3, "text", "has been cancel"),
    *_each(
        "ACCOUNT_CANCELLED",
        6,
        "text",
        "leaving us on | a pris fin | sich nicht | ended on | stopped on",
    ),
    *_each("ACCOUNT_CANCELLED", 4, "heading", _IS_ENDED),
    *_each("ACCOUNT_CANCELLED", 8, "text", _TEXT_RUN_OUT),
    *_each("ACCOUNT_CANCELLED", 6, "heading", _HAS_RUN_OUT),
    *_each("ACCOUNT_CANCELLED", 8, "button", _AGAIN),
    *_each("ACCOUNT_CANCELLED", 3, "button", "renew | renew now | resume | erneuern | renovar"),
    *_each("ACCOUNT_CANCELLED", 4, "alert", _IS_ENDED),
    *_each(
        "ACCOUNT_CANCELLED",
        4,
        "text",
        "cancelled | canceled | expired | ended",
        also=_one_of("button", "renew | resume | restart | resubscribe | reactivate | again"),
        unless=_says("button", "try again | sign in again | log in again | go back"),
    ),
    *_each(
        "ACCOUNT_CANCELLED",
        4,
        "text",
        _TEXT_ENDING,
    ),
    *_each(
        "ACCOUNT_CANCELLED",
        4,
        "heading",
        """membership ends | subscription ends | plan ends | ends on | will end on | is ending
        | expires on | gekündigt | endet am | prend fin | se termine | résilié | annulé
        | finaliza | cancelada | cancelado | expired | ended""",
        unless=_says("heading", "order | session | link | commande | pedido")
        + _says("text", "order number | session has expired | link has expired"),
    ),
)

# ---- billed by somebody else --------------------------------------------------------------------

_ELSEWHERE = """go to google play | open google play | manage on google play
    | manage in google play | manage with google play | manage on google
    | cancel on google play | cancel in google play | go to the play store | open play store
    | open the play store | go to app store | go to the app store | open app store
    | open the app store | manage in app store | manage in the app store
    | manage on the app store | go to apple | manage on apple | manage with apple
    | manage in apple | visit apple | cancel with apple | cancel on apple
    | cancel through apple | open apple | apple id settings | apple subscriptions
    | go to itunes | open itunes | manage in itunes | manage on itunes | go to roku
    | manage on roku | visit roku | cancel on roku | go to amazon | manage on amazon
    | visit amazon | cancel on amazon | manage at amazon | go to paypal | manage in paypal
    | manage on paypal | go to your provider | visit your provider | visit provider
    | contact provider | contact your provider | contact your carrier | go to verizon
    | go to t mobile | visit t mobile | visit verizon | go to partner | visit partner
    | go to partner site | manage with partner | manage with your provider
    | manage with provider | zu apple | zu google play | zum app store | zu amazon
    | zum anbieter | bei apple verwalten | bei google verwalten | in google play verwalten
    | bei amazon verwalten | im app store verwalten | aller sur google play
    | ouvrir l'app store | gérer sur apple | gérer sur google | gérer dans l'app store
    | aller sur apple | contacter votre opérateur | gérer chez | ir a google play | ir a apple
    | ir a la app store | abrir app store | gestionar en apple | gestionar en google
    | administrar en google | administrar en apple | contactar con tu operador"""

_SELLERS = """iphone | app store | itunes | google play | play store | roku | amazon | t-mobile
    | verizon | at&t | comcast | xfinity | vodafone | telekom | your carrier | partner
    | reseller | employer | administrator"""
_PLAN = """account | subscription | membership | billing | plan | payment | abo | abonnement
    | suscripción | mitgliedschaft | konto | cuenta | licence | license | lizenz | facturation
    | facturación | pagos | zahlung | paiement"""
_PLACES: tuple[Where, ...] = ("title", "heading")
# What footers link to, and checkouts pay with.
_BADGES = _says(
    "button",
    """get it on google play | download on the app store | google play | app store
    | get the app | download the app | amazon pay | add to cart | pay now | place order
    | sign in with apple | sign in with google""",
)

_ELSEWHERE_BILLED = (
    *_each("THIRD_PARTY_BILLING", 20, "text", _TEXT_BILLED),
    *_each(
        "THIRD_PARTY_BILLING",
        6,
        "text",
        _TEXT_SELLERS,
        unless=_says("button", "add to cart | pay now | place order | sign in with apple"),
    ),
    *_each(
        "THIRD_PARTY_BILLING",
        5,
        "text",
        _SELLERS,
        unless=_BADGES,
    ),
    *(
        rule
        for where in _PLACES
        for rule in _each(
            "THIRD_PARTY_BILLING", 4, "text", _SELLERS, also=_one_of(where, _PLAN), unless=_BADGES
        )
    ),
    *_each("THIRD_PARTY_BILLING", 10, "button", _ELSEWHERE),
    *_each(
        "THIRD_PARTY_BILLING",
        8,
        "heading",
        """third party | partner | billed through | billed by | managed by | managed through
        | managed elsewhere | through apple | through google play | through itunes
        | through roku | through amazon | über apple | via apple | a través de""",
    ),
)

# ---- an offer to stay ---------------------------------------------------------------------------

_DO_STAY = """before you go | before you leave | before you cancel | wait before | don't go
    | don't go yet | please stay | please don't go | stay with us | hate to see you go
    | hate to lose you | sad to see you go | want you to stay | love you to stay
    | love for you to stay | leaving so soon | leaving us | thinking of leaving
    | thinking about leaving | thinking of cancelling | thinking of canceling
    | thinking about cancelling | thinking about canceling | instead of cancelling
    | instead of canceling | instead of cancel | not ready to say goodbye | stay and save
    | stay and get | stay and enjoy | stay a little longer | stay for | give us another chance
    | one more chance | pause instead | consider pausing | why not pause | why not take a break
    | take a break | need a break | how about a break | how about a pause | rather than cancel
    | rather than cancelling | offer to stay | reasons to stay | reconsider | keep you
    | change your mind | make it right | wait | hold on | bevor du gehst | bevor sie gehen
    | bevor du kündigst | bevor sie kündigen | bleib bei uns | bleiben sie bei uns | bleib doch
    | bleiben und sparen | schade dass | statt kündigen | statt zu kündigen | pausieren statt
    | lieber pausieren | avant de partir | avant de nous quitter | avant que vous ne partiez
    | ne partez pas | restez avec nous | restez et économisez | au lieu de résilier
    | au lieu d'annuler | plutôt que de résilier | faites une pause | antes de irte
    | antes de que te vayas | antes de cancelar | antes de marcharte | no te vayas
    | quédate con nosotros | quédate y ahorra | en lugar de cancelar | en vez de cancelar
    | tómate un descanso | don't leave | better plan | you'll lose | you'll be missing
    | you'll miss | some time off | time off | off sound | an offer for you | einen moment"""
_OFFER = """special offer | exclusive offer | limited offer | limited time offer
    | one time offer | offer for you | offer just for you | just for you | deal | discount
    | # off | save # | save | half price | # month free | # months free | # months on us
    | free month | free months | # free | month on us | cheaper plan | lower price | lower cost
    | downgrade | reduced price | pause | reward | gift | loyalty | angebot | rabatt | sparen
    | günstiger | gratis | pausieren | guthaben | offre | remise | réduction | économisez
    | gratuit | mois offert | mois offerts | oferta | descuento | ahorra | mes gratis
    | meses gratis | pausar | mitad de precio"""
_GO_ON = """no thanks cancel | no thanks continue | no thank you cancel | no thanks i
    | no thanks i want to cancel | no thanks end | no cancel | no continue
    | still want to cancel | i still want to | continue to cancel | continue to cancellation
    | continue cancelling | continue canceling | continue cancellation
    | continue with cancellation | continue with cancelling | proceed to cancel
    | proceed to cancellation | proceed with cancellation | proceed with cancelling
    | decline offer | decline the offer | decline and cancel | decline and continue
    | reject offer | skip offer | cancel anyway | leave anyway | continue without offer
    | not interested | i don't want this offer | i want to cancel | i'd rather cancel
    | trotzdem kündigen | weiter zur kündigung | weiter kündigen | nein danke | nein kündigen
    | kündigung fortsetzen | mit kündigung fortfahren | continuer la résiliation
    | poursuivre la résiliation | résilier quand même | annuler quand même | non merci
    | continuer l'annulation | continuar con la cancelación | seguir cancelando
    | cancelar de todos modos | cancelar de todas formas | no gracias | continuar cancelación
    | anyway | want to leave | i want to leave"""
_TAKE_IT = """accept offer | accept the offer | accept this offer | accept my offer
    | accept discount | claim offer | claim my offer | claim this offer | claim discount
    | claim my discount | claim deal | redeem offer | redeem discount | apply discount
    | apply offer | apply my discount | get offer | get my discount | get this deal
    | take the offer | take this offer | take # off | get # off | keep # off | yes # off
    | claim # off | claim my # off | apply # off | stay and save | stay for | stay and get
    | switch to basic | switch to annual | downgrade instead | downgrade my plan
    | pause instead | pause for # | pause for a month | pause my plan | pause my account
    | pause my subscription | pause my membership | pause membership | pause subscription
    | take a break | yes pause | yes i'll stay | i'll stay | i ll stay | stay with
    | angebot annehmen | angebot sichern | rabatt sichern | jetzt sparen | abo pausieren
    | mitgliedschaft pausieren | doch bleiben | accepter l'offre | profiter de l'offre
    | en profiter | j'en profite | mettre en pause | rester abonné | aceptar oferta
    | aceptar la oferta | aprovechar oferta | quiero la oferta | pausar suscripción
    | pausar mi suscripción | pausar membresía | quedarme | stay | stay at # | stay at | credit
    | get # | downgrade to | ich bleibe | pause deliveries | freeze membership"""
_KEEP = """keep my subscription | keep my membership | keep my plan | keep subscription
    | keep membership | keep plan | keep my benefits | keep my account | keep account
    | keep premium | keep my premium | keep watching | keep listening | keep it
    | keep my service | stay subscribed | stay a member | stay premium | remain a member
    | never mind | nevermind | i changed my mind | don't cancel | do not cancel | go back
    | no keep | no go back | abo behalten | mitgliedschaft behalten | behalten
    | doch nicht kündigen | garder mon abonnement | conserver mon abonnement | rester membre
    | conserver | mantener suscripción | mantener mi suscripción | mantener mi plan | conservar
    | seguir suscrito | mantener membresía"""
_CANCEL_BUTTONS = """cancel | cancellation | cancelling | canceling | no thanks | kündigen
    | kündigung | résilier | résiliation | annuler | cancelar | cancelación"""

_RETENTION = (
    *_each("RETENTION_OFFER", 8, "heading", _DO_STAY),
    *_each("RETENTION_OFFER", 3, "heading", _OFFER),
    *_each(
        "RETENTION_OFFER",
        4,
        "button",
        "offer | discount | # off | pause | stay | save | angebot | rabatt | offre | oferta",
        also=_one_of("button", _CANCEL_BUTTONS),
        unless=_says("text", "next billing date"),
    ),
    *_each("RETENTION_OFFER", 8, "button", _GO_ON),
    *_each("RETENTION_OFFER", 5, "button", _TAKE_IT),
    *_each("RETENTION_OFFER", 3, "button", _KEEP),
    *_each("RETENTION_OFFER", 4, "text", _TEXT_LEAVING),
    *_each("RETENTION_OFFER", 2, "url", "offer | offers | retention | save | stay | winback"),
)

# ---- why somebody leaves ------------------------------------------------------------------------

_WHY = """why are you leaving | why are you cancelling | why are you canceling
    | why you're leaving | why you are leaving | why you're cancelling | why you're canceling
    | why you are cancelling | why you are canceling | why you want to cancel
    | why you want to leave | why you decided to cancel | why you decided to leave
    | why you've decided | why did you cancel | why did you decide | why do you want to cancel
    | why would you like to cancel | why you would like to cancel | why you'd like to cancel
    | why did you leave | why you cancelled | why you canceled | why you left
    | reason for leaving | reason for cancelling | reason for canceling
    | reason for your cancellation | reason for cancellation | reason you're leaving
    | reason you're cancelling | reason you're canceling | reason you are leaving
    | reason you are cancelling | reason you are canceling | reasons for leaving
    | reasons for cancelling | reasons for canceling | reason for closing | reason for deleting
    | why are you closing | why are you deleting | why you're closing | cancellation reason
    | cancellation survey | exit survey | leaving survey | tell us why | let us know why
    | share why | what made you decide | what made you cancel | what made you leave
    | what's making you | what is making you | what led you to | main reason | primary reason
    | select a reason | choose a reason | pick a reason | please select a reason
    | what went wrong | what could we have done | what can we do better | how can we improve
    | could we do better | could we have done better | warum kündigst du | warum kündigen sie
    | warum möchten sie | warum möchtest du | warum verlässt du uns | warum gehst du
    | kündigungsgrund | grund für deine kündigung | grund für ihre kündigung
    | grund der kündigung | grund für die kündigung | warum willst du | verrate uns warum
    | sagen sie uns, warum | sag uns, warum | pourquoi partez-vous | pourquoi souhaitez-vous
    | pourquoi nous quittez-vous | pourquoi résiliez-vous | pourquoi annulez-vous
    | raison de votre départ | raison de votre résiliation | motif de résiliation
    | motif de votre résiliation | raison de la résiliation | dites-nous pourquoi
    | raison principale | por qué te vas | por qué cancelas | por qué quieres cancelar
    | por qué deseas cancelar | por qué nos dejas | motivo de la cancelación
    | motivo de cancelación | razón de la cancelación | dinos por qué | cuéntanos por qué
    | motivo principal | why are you unsubscribing | behind your decision
    | select all that apply | what made you | was hat dir | telling us why
    | tell us more about why"""
_WHY_WORD = "why | reason | warum | grund | pourquoi | raison | motif | por qué | motivo"
_REASONS = """too expensive | costs too much | cost too much | too costly | price is too high
    | price too high | price increase | can't afford | cannot afford | save money | cut costs
    | cutting costs | reduce expenses | reducing expenses | budget | financial reasons
    | not worth | don't use | do not use | not using | rarely use | never use | hardly use
    | not use it enough | using it enough | use it enough | don't watch | not watching
    | don't have time | no time | not enough time | lack of time | found a better
    | found another | found an alternative | better alternative | another service
    | different service | other service | another provider | switching to | switched to
    | moving to another | competitor | technical issues | technical problems
    | technical difficulties | bugs | streaming quality | poor quality | video quality
    | not enough content | lack of content | nothing to watch | nothing i want to watch
    | content i want | not enough to watch | finished watching | watched everything | selection
    | missing features | missing a feature | features i need | missing | lack of features
    | too complicated | hard to use | difficult to use | too difficult | only needed it
    | just needed it | only needed | temporary | temporarily | short term | no longer need
    | don't need | do not need | no longer use | no longer interested | lost interest
    | not interested | taking a break | need a break | prefer not to say | prefer not to answer
    | rather not say | other reason | another reason | something else | customer service
    | customer support | bad experience | privacy concerns | too many emails | too many ads
    | duplicate account | second account | moving abroad | moving | just trying | trying it out
    | was just testing | accident | by mistake | didn't mean to | unhappy with | dissatisfied
    | not satisfied | did not meet | didn't meet | expectations | zu teuer | nutze es
    | nutze den | nutze ich | nutze das | zu selten | keine zeit | anderen anbieter
    | anderer anbieter | alternative gefunden | technische probleme | anderer grund | sonstiges
    | brauche es nicht | nicht mehr benötigt | kein interesse | auswahl | inhalte | unzufrieden
    | finanzielle gründe | keine angabe | trop cher | n'utilise pas | utilise pas assez
    | pas assez | plus besoin | problèmes techniques | problème technique | autre raison
    | autre service | autre motif | manque de contenu | manque de temps | concurrent
    | ne souhaite pas répondre | demasiado caro | muy caro | es caro | no lo uso | no uso
    | lo uso poco | otro servicio | otra plataforma | problemas técnicos | otro motivo
    | otra razón | ya no lo necesito | no lo necesito | falta de contenido | falta de tiempo
    | prefiero no decirlo | pricey | cheaper | sold my | moved | too few | moving away
    | i moved | don't like | didn't like | slow | ads"""

_SURVEY = (
    *_each("EXIT_SURVEY", 6, "text", _TEXT_WHY),
    *_each("EXIT_SURVEY", 5, "heading", _WHY),
    *_each("EXIT_SURVEY", 6, "field", _WHY),
    *_each("EXIT_SURVEY", 5, "field", _REASONS),
    *_each(
        "EXIT_SURVEY",
        3,
        "field",
        """price | cost | quality | problems | content | features | preis | inhalte | prix
        | precio""",
    ),
    *_each(
        "EXIT_SURVEY",
        3,
        "field",
        """other | reason | reasons | andere | anderes | autre | otro | otra | motivo | grund
        | raison | motif | feedback | tell us more | additional comments | comments
        | anything else""",
    ),
    *_each(
        "EXIT_SURVEY",
        3,
        "heading",
        """sorry to see you go | sad to see you go | help us improve | your feedback | feedback
        | survey | we value your feedback | quick question | umfrage | enquête | encuesta
        | comentarios""",
    ),
    *_each(
        "EXIT_SURVEY",
        3,
        "button",
        """skip survey | skip this survey | skip this question | skip question
        | submit feedback | send feedback | submit survey | submit and continue | submit reason
        | submit and cancel | umfrage überspringen | feedback senden | ignorer
        | passer le questionnaire | enviar comentarios | omitir encuesta""",
    ),
    *_each("EXIT_SURVEY", 2, "url", "survey | reason | reasons | feedback | why"),
)

# ---- the last step ------------------------------------------------------------------------------

_DO_IT = """finish cancellation | finish cancelation | finish cancelling | finish canceling
    | complete cancellation | complete my cancellation | complete cancelation
    | confirm cancellation | confirm my cancellation | confirm cancelation | confirm cancel
    | confirm and cancel | submit cancellation | yes cancel | yes i want to cancel | yes end
    | yes unsubscribe | cancel now | cancel immediately | cancel my subscription now
    | end my membership | end membership now | end subscription now | finalize cancellation
    | finalise cancellation | confirm unsubscribe | confirm downgrade | place order
    | place your order | place my order | confirm order | confirm your order | confirm my order
    | submit order | submit your order | complete order | complete my order | complete purchase
    | complete your purchase | confirm purchase | confirm and pay | confirm and book
    | book and pay | confirm pay | pay now | pay # | confirm payment | make payment
    | submit payment | authorize payment | authorise payment | approve payment
    | confirm and subscribe | start paid subscription | confirm subscription | confirm transfer
    | send money | send payment | confirm and send | transfer now | confirm booking
    | complete booking | confirm reservation | complete reservation | delete permanently
    | permanently delete | delete forever | yes delete | delete anyway | confirm deletion
    | confirm delete | erase everything | understand delete | delete this repository
    | delete my data | delete everything | yes i'm sure | yes i am sure | yes close
    | yes remove | yes deactivate | confirm closure | confirm and close
    | close account permanently | yes proceed | yes continue | confirm changes
    | sign and submit | kündigung bestätigen | kündigung abschließen | kündigung abschliessen
    | ja kündigen | ja jetzt kündigen | endgültig kündigen | verbindlich kündigen
    | kündigung absenden | jetzt verbindlich kündigen | zahlungspflichtig bestellen
    | kostenpflichtig bestellen | jetzt bezahlen | zahlung bestätigen | bestellung abschicken
    | bestellung bestätigen | endgültig löschen | dauerhaft löschen | ja löschen
    | confirmer la résiliation | confirmer ma résiliation | confirmer l'annulation
    | finaliser la résiliation | terminer la résiliation | valider la résiliation
    | oui résilier | oui annuler | confirmer le paiement | payer maintenant
    | passer la commande | valider la commande | confirmer la commande | commander et payer
    | supprimer définitivement | oui supprimer | confirmer la suppression
    | confirmar cancelación | confirmar la cancelación | finalizar cancelación
    | finalizar la cancelación | terminar cancelación | completar cancelación | sí cancelar
    | realizar pedido | hacer pedido | confirmar pedido | confirmar pago | pagar ahora
    | confirmar compra | confirmar y pagar | eliminar definitivamente
    | eliminar permanentemente | sí eliminar | confirmar eliminación"""
_SURE = """are you sure | about to cancel | about to end | about to delete | review your trip
    | order summary | confirm cancellation | confirm your cancellation | finish cancellation
    | finish your cancellation | finish cancelling | finish canceling
    | complete your cancellation | complete cancellation | confirm your order | confirm order
    | review your order | review order | order review | review and confirm | review and pay
    | review and submit | review and place | review your purchase | confirm purchase
    | confirm your purchase | confirm and pay | confirm payment | confirm your payment
    | confirm transfer | review transfer | confirm your booking | review your booking
    | review and book | last step | final step | one last step | final confirmation
    | final review | please confirm | confirm your choice | confirm your changes
    | confirm deletion | confirm delete | confirm account deletion | confirm account closure
    | permanently delete | delete your account | delete account | delete my account
    | delete this | close your account | close account | confirm that you want
    | do you really want | really cancel | ready to cancel | confirm | sind sie sicher
    | bist du sicher | wirklich kündigen | kündigung bestätigen | wirklich löschen
    | konto löschen | bestellung prüfen | prüfen und bestellen | bestellung überprüfen
    | letzter schritt | möchten sie wirklich | möchtest du wirklich | êtes vous sûr
    | êtes vous sûre | voulez vous vraiment | confirmer la résiliation
    | confirmez la résiliation | confirmez votre résiliation | confirmer l'annulation
    | confirmez votre commande | vérifiez votre commande | supprimer votre compte
    | supprimer mon compte | dernière étape | récapitulatif de la commande | estás seguro
    | estás segura | está seguro | seguro que quieres | seguro que deseas
    | confirmar cancelación | confirma tu cancelación | confirmar la cancelación
    | revisa tu pedido | confirmar pedido | confirma tu pedido | último paso
    | eliminar tu cuenta | eliminar cuenta | your cancellation | permanently | one last click
    | review payment | review your payment | summary of your cancellation | delete #
    | erase all | payment details | review pay | do you want to | would you like to cancel
    | you want to cancel | delete workspace | review your application | review your"""
_CANCEL_HEADING = """cancel your membership | cancel your subscription | cancel your plan
    | cancel membership | cancel subscription | cancel plan | cancel my subscription
    | cancel my membership | cancel premium | end your membership | end your subscription
    | cancel your account | mitgliedschaft kündigen | abo kündigen | abonnement kündigen
    | mitgliedschaft beenden | résilier votre abonnement | résilier mon abonnement
    | annuler votre abonnement | annuler l'abonnement | cancelar tu suscripción
    | cancelar suscripción | cancelar la suscripción | cancelar tu membresía"""

# A list of what could be done, with its warnings, is not the doing.
_SETTINGS = _says(
    "heading",
    """settings | preferences | danger zone | profile | einstellungen | paramètres | ajustes
    | configuración""",
)

_FINAL = (
    *_each("FINAL_CONFIRMATION", 10, "button", _DO_IT),
    *_each("FINAL_CONFIRMATION", 8, "heading", _SURE, unless=_says("heading", _WHY_WORD)),
    *_each("FINAL_CONFIRMATION", 4, "title", _SURE),
    *_each("FINAL_CONFIRMATION", 6, "heading", _CANCEL_HEADING),
    *_each(
        "FINAL_CONFIRMATION",
        4,
        "heading",
        _CANCEL_HEADING,
        also=_one_of("button", "cancel | end | kündigen | résilier | annuler | cancelar"),
    ),
    *_each("FINAL_CONFIRMATION", 7, "text", _TEXT_FOR_GOOD, unless=_SETTINGS),
    *_each("FINAL_CONFIRMATION", 5, "text", _TEXT_NO_WAY_BACK),
    *_each("FINAL_CONFIRMATION", 2, "button", "keep | submit application"),
    *_each("FINAL_CONFIRMATION", 4, "heading", "cancel | turn off", also=_says("button", "keep")),
    *_each("FINAL_CONFIRMATION", 5, "button", "now | jetzt", also=_says("button", "cancel")),
    *_each("FINAL_CONFIRMATION", 4, "heading", "delete", also=_says("button", "delete")),
    *_each("FINAL_CONFIRMATION", 4, "heading", "cancel", also=_says("button", "yes")),
    *_each("FINAL_CONFIRMATION", 4, "heading", "remove", also=_says("button", "remove")),
    *_each("FINAL_CONFIRMATION", 6, "button", "buy now", also=_says("heading", "review")),
    *_each("FINAL_CONFIRMATION", 6, "button", "buy now", also=_says("title", "checkout")),
    *_each("FINAL_CONFIRMATION", 4, "button", _KEEP),
    *_each(
        "FINAL_CONFIRMATION",
        4,
        "button",
        """confirm | bestätigen | confirmer | confirmar | i understand | finish
        | jetzt kündigen""",
    ),
    *_each(
        "FINAL_CONFIRMATION",
        4,
        "button",
        """delete account | delete my account | close my account | close account
        | deactivate account | konto löschen | supprimer mon compte | eliminar mi cuenta
        | eliminar cuenta""",
        unless=_SETTINGS,
    ),
    *_each(
        "FINAL_CONFIRMATION",
        4,
        "field",
        """i understand | i confirm | i agree to cancel | type delete | type cancel
        | type confirm | to confirm | ich bestätige | ich verstehe | je comprends | je confirme
        | entiendo que | confirmo""",
    ),
    *_each(
        "FINAL_CONFIRMATION",
        2,
        "url",
        "confirm | confirmation | cancelplan | cancel | review | delete | checkout",
    ),
)

# ---- done ---------------------------------------------------------------------------------------

_DONE_HEADING = """cancellation complete | cancellation confirmed | cancellation successful
    | cancellation is complete | cancellation is confirmed | cancelation complete
    | cancellation has been confirmed | cancellation completed | cancellation received
    | cancellation request received | successfully cancelled | successfully canceled
    | we've cancelled | we've canceled | we have cancelled | we have canceled
    | you've cancelled | you've canceled | you have cancelled | you have canceled
    | you're unsubscribed | you have been unsubscribed | you've been unsubscribed
    | order confirmed | order confirmation | order placed | order complete | order completed
    | order received | order is confirmed | order has been placed | order is complete
    | order is on its way | thank you for your order | thanks for your order
    | thank you for your purchase | thanks for your purchase | thank you for your payment
    | thank you for shopping | payment successful | payment received | payment complete
    | payment completed | payment confirmed | payment confirmation | payment sent
    | transfer complete | transfer successful | money sent | booking confirmed
    | booking confirmation | booking is confirmed | reservation confirmed
    | reservation is confirmed | all done | you're all set | you are all set | all set
    | it's done | that's it | successful | successfully | success | request received
    | request submitted | request has been received | we got your request | submission received
    | application submitted | application received | message sent | thanks for contacting
    | thank you for contacting | account deleted | account closed | now closed | is closed
    | now cancelled | now canceled | is cancelled | is canceled | has been deleted
    | has been closed | changes saved | settings saved | profile updated | password changed
    | password updated | has been updated | has been saved | has been submitted | has been sent
    | registration complete | you're subscribed | welcome aboard | kündigung bestätigt
    | kündigung erfolgreich | kündigung abgeschlossen | kündigung eingegangen
    | erfolgreich gekündigt | erfolgreich | bestellung bestätigt
    | vielen dank für deine bestellung | vielen dank für ihre bestellung
    | danke für deine bestellung | danke für ihre bestellung | bestellbestätigung
    | zahlung erfolgreich | buchung bestätigt | geschafft | résiliation confirmée
    | résiliation effectuée | résiliation terminée | annulation confirmée | commande confirmée
    | merci pour votre commande | paiement accepté | paiement réussi | paiement confirmé
    | réservation confirmée | c'est fait | modifications enregistrées | avec succès
    | cancelación confirmada | cancelación completada | cancelación completa
    | cancelación realizada | cancelado correctamente | cancelada correctamente
    | pedido confirmado | pedido realizado | gracias por tu pedido | gracias por su pedido
    | gracias por tu compra | gracias por su compra | pago realizado | pago completado
    | pago confirmado | reserva confirmada | listo | con éxito | cambios guardados
    | eingegangen | correctamente | that's done | cancelled successfully
    | canceled successfully | subscription cancelled | subscription canceled
    | membership cancelled | membership canceled"""
_HISTORY = _says(
    "heading",
    """order history | your orders | my orders | past orders | purchase history | recent orders
    | meine bestellungen | mes commandes | mis pedidos | transactions | recent activity
    | recent transactions""",
)

_DONE_WORD = """deleted | removed | sent | saved | updated | submitted | received | booked
    | scheduled | processed | erased | went through | erhalten | gelöscht
    | gespeichert | gesendet | gebucht | supprimé | enregistré
    | enregistrée | envoyé | envoyée | eliminado | eliminada | guardado | enviado | enviada
    | recibido | recibida | registrado | registrada | prise en compte"""

_COMPLETE = (
    *_each("COMPLETE", 3, "title", _DONE_WORD),
    *_each(
        "COMPLETE",
        4,
        "title",
        """done | thank you | thanks | all set | receipt | vielen dank | danke | fertig | merci
        | gracias | hecho""",
    ),
    *_each("COMPLETE", 11, "heading", _DONE_HEADING, unless=_HISTORY),
    *_each("COMPLETE", 5, "title", _DONE_HEADING, unless=_HISTORY),
    *_each(
        "COMPLETE",
        6,
        "heading",
        """thank you | thanks | thank you for | confirmed | done | complete | completed
        | goodbye | we'll miss you | we will miss you | sorry to see you go | sad to see you go
        | farewell | see you soon | hope to see you again | vielen dank | danke
        | auf wiedersehen | bestätigt | merci | au revoir | à bientôt | gracias | hasta pronto
        | adiós | confirmado | confirmada""",
    ),
    *_each(
        "COMPLETE",
        6,
        "heading",
        _DONE_WORD,
        unless=_HISTORY,
    ),
    *_each(
        "COMPLETE",
        5,
        "heading",
        "cancelled | canceled | gekündigt | résilié | résiliée | cancelada | cancelado",
        unless=_says("heading", "flight | event | meeting | order | class | train | not | account"),
    ),
    *_each("COMPLETE", 2, "text", "cancelled | canceled"),
    *_each("COMPLETE", 4, "heading", _IS_ENDED),
    *_each("COMPLETE", 2, "text", _TEXT_ENDED),
    *_each("COMPLETE", 6, "text", _TEXT_DONE, unless=_HISTORY),
    *_each(
        "COMPLETE",
        11,
        "alert",
        """saved | successfully | updated | success | has been sent | has been submitted
        | has been added | has been removed | has been cancelled | has been canceled
        | have been saved | changes saved | was saved | completed | confirmed | sent
        | gespeichert | erfolgreich | aktualisiert | enregistré | enregistrées | mis à jour
        | avec succès | guardado | guardados | actualizado | con éxito | correctamente""",
        unless=_says("alert", "not | couldn't | could not | failed | error | nicht | pas | no"),
    ),
    *_each(
        "COMPLETE",
        3,
        "button",
        """back to home | back to homepage | return to home | return to homepage | return home
        | go to homepage | go to home | back to account | return to account
        | back to my account | go to account | continue shopping | keep shopping | view order
        | view your order | view my order | view order details | track order | track your order
        | track my order | print receipt | download receipt | view receipt | print this page
        | done | back to shop | back to store | return to shop | zur startseite
        | weiter einkaufen | zurück zur startseite | retour à l'accueil | continuer mes achats
        | suivre ma commande | volver al inicio | seguir comprando | ver pedido""",
    ),
    *_each(
        "COMPLETE",
        2,
        "url",
        "complete | completed | success | thank you | thankyou | thanks | done | confirmed",
    ),
)

# ---- went wrong ---------------------------------------------------------------------------------

_ERROR_HEADING = """something went wrong | went wrong | page not found | can't find that page
    | can't find the page | can't find this page | page doesn't exist | page isn't available
    | page is not available | page is unavailable | this page isn't working | can't be reached
    | internal server error | server error | bad gateway | service unavailable
    | gateway timeout | gateway time out | access denied | forbidden | error #
    | application error | unexpected error | an error occurred | error occurred
    | error has occurred | payment failed | payment declined | payment was declined
    | payment unsuccessful | payment error | payment not processed | card declined
    | card was declined | transaction failed | transaction declined | order failed
    | cancellation failed | request failed | could not complete | couldn't complete
    | could not process | couldn't process | could not cancel | couldn't cancel
    | could not save | couldn't save | technical difficulties | temporarily unavailable
    | under maintenance | scheduled maintenance | be right back | down for maintenance
    | too many requests | request timed out | link has expired | link expired | problem loading
    | there was a problem | there was an error | lost your way | lost in space | 404
    | etwas ist schiefgelaufen | schiefgelaufen | schief gelaufen | seite nicht gefunden
    | wartungsarbeiten | zugriff verweigert | une erreur est survenue
    | une erreur s'est produite | page introuvable | page non trouvée | paiement refusé
    | accès refusé | un problème est survenu | algo salió mal | algo ha salido mal
    | ha ocurrido un error | se ha producido un error | se produjo un error
    | página no encontrada | pago rechazado | acceso denegado"""
_MAYBE_ERROR = """weren't able | not able | go through | not right | not found | doesn't exist
    | does not exist | isn't working | permission | http # | could not be | couldn't be
    | we couldn't | we could not | we can't | unable to | failed to | failed | unsuccessful
    | having trouble | timed out | couldn't find | there's a problem | fehler | fehlgeschlagen
    | nicht gefunden | nicht verfügbar | abgelehnt | konnte nicht | konnten nicht | erreur
    | introuvable | échec | échoué | indisponible | impossible de | error | no encontrada
    | rechazado | rechazada | no disponible | no se pudo | no hemos podido | no pudimos
    | currently unavailable | unauthorized | not authorized | didn't work | did not work
    | lost connection | a problem | existiert nicht | offline | not completed | no connection
    | invalid request | bad request | snag | no longer works | rechazado el
    | hors ligne | sin conexión | nothing here | can't cancel | cannot cancel"""

_FAILED = (
    *_each(
        "FAILED",
        9,
        "heading",
        _ERROR_HEADING,
        unless=_says("heading", "how to | fix") + _says("title", "how to | fix"),
    ),
    *_each("FAILED", 6, "heading", _MAYBE_ERROR),
    *_each(
        "FAILED",
        6,
        "heading",
        "oops | uh oh | sorry | whoops | ups | oups | problem | 403 | 404 | 500 | 502 | 503",
    ),
    *_each("FAILED", 5, "title", _ERROR_HEADING, unless=_says("title", "how to | fix")),
    *_each("FAILED", 4, "title", _MAYBE_ERROR),
    *_each("FAILED", 4, "title", "oops | problem"),
    *_each("FAILED", 4, "text", _TEXT_ERROR),
    *_each(
        "FAILED",
        30,
        "alert",
        """something went wrong | went wrong | error | errors | erreurs | errores | declined
        | could not | couldn't
        | unable to | failed | was not | has not been | try again later | there was a problem
        | we can't | not processed | unsuccessful | expired card | insufficient funds | fehler
        | fehlgeschlagen | konnte nicht | abgelehnt | erreur | échec | échoué | n'a pas pu
        | refusé | refusée | impossible | no se pudo | rechazado | rechazada | no hemos podido""",
        unless=_says("field", _PASSWORD),
    ),
    *_each(
        "FAILED",
        3,
        "button",
        """try again | retry | reload | reload page | refresh | refresh page | go back
        | go home | back to home | return home | back to homepage | go to homepage
        | contact support | contact us | report a problem | report this problem
        | try another card | try a different card | use a different card | use another card
        | update payment method | erneut versuchen | neu laden | zur startseite | réessayer
        | retour à l'accueil | actualiser | reintentar | volver a intentar | intentar de nuevo
        | volver al inicio""",
    ),
    *_each("FAILED", 2, "url", "error | 404 | 500 | failed | failure | declined | notfound"),
)

# ---- what words make together -------------------------------------------------------------------

# Services say the same in their own words: a contract, a gift, a line, a box; ended, stopped, left.
# Single words of two kinds, each in its place, say what no list of phrases would.
_ENDING = """cancel | end | stop | leave | terminate | close | quit | unsubscribe | turn off
    | delete | release | kündigen | beenden | stoppen | löschen | stornieren | résilier
    | arrêter | annuler | supprimer | clôturer | cancelar | baja | terminar | eliminar | anular"""
_LEAVING = """cancel | cancelling | canceling | cancellation | leave | leaving | close | kündigen
    | kündigung | résilier | résiliation | désabonnement | baja | cancelar | cancelación"""
_WAY_BACK = """keep | back | go back | no | never mind | not now | behalten | zurück | abbrechen
    | nein | garder | conserver | retour | non | mantener | conservar | volver | atrás | change
    | edit | ändern | modifier | modificar"""
_REVIEWED = """review | check | summary | final | last step | please confirm | confirm | prüfen
    | überprüfen | zusammenfassung | übersicht ihrer kündigung | bestätigen | vérifiez | vérifier
    | vérification | récapitulatif | confirmez | confirmer | revisa | revise | revisar | resumen
    | confirma | confirme | confirmar"""
_CARRIED_OUT = """confirm | submit | send | send now | pay | place | book | finish | complete | end
    | cancel | delete | close | terminate | transfer | sign | bestätigen | kündigen | absenden
    | abschicken | senden | beenden | buchen | bezahlen | überweisen | löschen | confirmer
    | valider | envoyer | payer | résilier | supprimer | confirmar | enviar | pagar | tramitar
    | solicitar | cancelar | eliminar"""
_ENDED_WORD = """cancelled | canceled | ended | stopped | terminated | closed | switched off
    | turned off | unsubscribed | no longer | withdrawn | beendet | gekündigt | storniert
    | geschlossen | abgemeldet | résilié | résiliée | arrêté | arrêtée | annulé | annulée | clôturé
    | supprimé | cancelado | cancelada | anulado | anulada | finalizado | finalizada
    | tramitado | tramitada | dado de baja"""
_TEXT_RECEIPT = """reference | case number | request number | ticket number
    | receipt | refund | emailed | sent to | text message | copy of this | we have received
    | no more
    | vorgangsnummer | aktenzeichen | referenz | bestätigung | gesandt | geschickt | gesendet
    | dossier | référence | courriel | envoyé | número de | referencia | hemos enviado | enviado
    | thank you | vielen dank | merci | gracias"""
_SIGNED_IN = """log out | logout | sign out | signout | abmelden | ausloggen | logout | déconnexion
    | se déconnecter | me déconnecter | cerrar sesión | desconectar | salir"""
_SOLD_BY = """phone bill | mobile bill | cable bill | bought in | bought from | purchased in
    | purchased from | bought on | reseller | marketplace | cancel it for you | cannot cancel it
    | can't cancel it | can only be cancelled | can only be canceled | provides this | pays for
    | provided by | sponsored by | dort kündigen | kündige dort | kündigen sie dort | gekauft
    | abgeschlossen bei | vertragspartner | rechnung ihres | handyrechnung | mobilfunk
    | votre fournisseur | adressez-vous | auprès de | facture de votre | facture mobile
    | revendeur | achetée sur | acheté sur | souscrit sur | compañía | operadora | contrató
    | contratad | en contacto con | comprad | distribuidor | revendedor | takes care of
    | changes can be made | übernimmt | gestiona tu | desde tu cuenta de | depuis les réglages
    | bills you | not manage | t manage your | can't change your | cannot change your
    | we can't cancel | we cannot cancel | no card on file | ne pouvons | no podemos | nur in ihrem
    | managed at | paid with your | account holder | titular | nur dort | signed up on
    | subscribed in | te suscribiste | souscrit"""
_TEXT_NOT_DONE = """unable to | could not be | couldn't be | was not | were not able
    | has not been | have not been | t go through | did not approve | error:
    | nothing has changed | nothing was | no longer works | konnte nicht | konnten nicht
    | leider nicht | noch einmal | n'a pas | n'avons pas pu | impossible de | ultérieurement
    | no hemos podido | no ha | no se ha podido | más tarde | inténtalo"""
_STILL = """no | still | anyway | carry on | continue | want to | weiter | trotzdem | dennoch
    | continuer | quand même | je veux | poursuivre | seguir | continuar | quiero"""
_OFFERED = """half price | # off | free | pause | skip | instead | tempt | # months | discount
    | less | cheaper | angebot | geschenkt | rabatt | gratis | pausieren | offert | offerts
    | remise | offre | suspendre | quedas | cuota | descuento | oferta | pausa | stay | bleiben
    | rester | quedarte | deal | on us | better"""

_A_REVIEW = _says("heading", "a review | your review | reviews | customer review")

_TOGETHER = (
    *(
        rule
        for verb in _ENDING.split("|")
        for rule in _each(
            "FINAL_CONFIRMATION",
            8,
            "heading",
            verb,
            also=_one_of("button", verb) + _one_of("button", _WAY_BACK),
            unless=_says("heading", _WHY_WORD),
        )
    ),
    *_each(
        "FINAL_CONFIRMATION",
        8,
        "heading",
        _REVIEWED,
        also=_one_of("button", _CARRIED_OUT),
        unless=_A_REVIEW,
    ),
    *_each(
        "FINAL_CONFIRMATION",
        4,
        "button",
        _CARRIED_OUT,
        also=_one_of("heading", _REVIEWED),
        unless=_A_REVIEW,
    ),
    *_each(
        "FINAL_CONFIRMATION",
        8,
        "button",
        "buy now | jetzt kaufen | kaufen | bestellen | commander | acheter | comprar | order now",
        also=_one_of("title", "checkout | kasse | caisse | paiement | pago | review"),
    ),
    *_each("FINAL_CONFIRMATION", 4, "field", "verbindlich | hiermit | this is final | i know that"),
    *_each(
        "ACCOUNT_ACTIVE",
        4,
        "button",
        """cancel my | cancel your | cancel this | cancel the | end | stop | leave
        | terminate | unsubscribe | turn off | kündigen | beenden
        | résilier | arrêter | cancelar | baja""",
        also=_one_of("button", _SIGNED_IN),
    ),
    *_each("ACCOUNT_ACTIVE", 2, "button", _SIGNED_IN, also=_one_of("heading", _ITS_PLACE)),
    *_each(
        "ACCOUNT_ACTIVE",
        4,
        "text",
        """monthly payment | direct debit | every month | next gift | fixed until | monatsbeitrag
        | laufzeit | cuota | próximo | prochain | nächste""",
        also=_one_of("button", _SIGNED_IN),
    ),
    *_each(
        "COMPLETE",
        7,
        "heading",
        _ENDED_WORD,
        also=_one_of("text", _TEXT_RECEIPT),
    ),
    *_each(
        "ACCOUNT_CANCELLED",
        6,
        "text",
        """cancelled | canceled | ended | stopped | closed | gekündigt | beendet | résilié
        | terminé | cancelad | finalizad""",
        also=_one_of(
            "button",
            """again | restart | rejoin | resubscribe | reactivate | resume | renew | undo
            | wieder | erneut | fortsetzen | zurückziehen | zurücknehmen | reaktivieren | reprendre
            | réactiver | réabonner | volver a | reactivar | reanudar | renovar""",
        ),
        unless=_says("button", "try again | sign in again | log in again | send it again"),
    ),
    *_each(
        "ACCOUNT_CANCELLED",
        4,
        "text",
        "cancelled | canceled | ended | expired | gekündigt | résilié | cancelad",
        also=_one_of("button", _SIGNED_IN) + _one_of("heading", _PLAN + " | policy | policies"),
    ),
    *_each(
        "ACCOUNT_CANCELLED",
        4,
        "button",
        """start again | join us again | member again | volver a activar | reprendre
        | zurückziehen""",
    ),
    *(
        rule
        for where in _PLACES
        for rule in _each("THIRD_PARTY_BILLING", 7, "text", _SOLD_BY, also=_one_of(where, _PLAN))
    ),
    *_each(
        "THIRD_PARTY_BILLING",
        4,
        "button",
        """go to | open | visit | manage on | manage in | manage with | zu | zum | bei | gérer sur
        | gérer chez | aller sur | ir a | gestionar en | provider | reseller""",
        also=_one_of("text", _SOLD_BY + " | " + _TEXT_SELLERS + " | " + _SELLERS),
    ),
    *_each("FAILED", 5, "text", _TEXT_NOT_DONE),
    *_each(
        "FAILED",
        3,
        "button",
        "try again | retry | erneut versuchen | réessayer | reintentar | intentar de nuevo",
    ),
    *_each("FAILED", 5, "text", "lost the connection | is still active | contains errors"),
    # No form says this before it was sent.
    *_each(
        "FAILED",
        9,
        "text",
        """was declined | been declined | did not approve | not be processed | t be processed
        | not be completed | t be completed | was not submitted | not been submitted
        | not be sent | nothing was taken | not go through | t go through
        | wurde abgelehnt | nicht gesendet werden | nicht verarbeitet | a été refusé
        | pas pu être | sido rechazad | no hemos podido | no se ha podido""",
    ),
    *_each(
        "RETENTION_OFFER",
        5,
        "button",
        _STILL,
        also=_one_of("button", _LEAVING) + _one_of("heading", _OFFERED),
    ),
    *_each("RETENTION_OFFER", 5, "heading", _OFFERED, also=_one_of("button", _LEAVING)),
    *_each(
        "EXIT_SURVEY",
        4,
        "field",
        """other | something else | none of these | sonstiges | anderer | andere | autre | otro
        | otra | price | preis | prix | precio | moving | umzug | déménagement | mudanza
        | quality | qualität | qualité | calidad | service | servicio""",
        also=_one_of("title", _LEAVING),
    ),
    *_each(
        "EXIT_SURVEY",
        7,
        "heading",
        _WHY_WORD,
        also=_one_of("title", _LEAVING + " | delete | löschen | supprimer | eliminar"),
    ),
    *_each("EXIT_SURVEY", 3, "field", _WHY_WORD),
    *_each(
        "EXIT_SURVEY",
        4,
        "heading",
        """help us understand | quick question | aidez nous | ayúdanos | helfen sie uns | hilf uns
        | what happened | qué ha pasado""",
    ),
    *_each(
        "LOGIN_REQUIRED",
        3,
        "field",
        """customer number | client number | membership number | member number | card number or
        | mitgliedsnummer | kundennummer | numéro de client | numéro client | code secret
        | código secreto | dni | memorable word | access code | zugangscode | code d'accès""",
    ),
    *_each(
        "LOGIN_REQUIRED",
        3,
        "heading",
        """customer area | members area | member area | my portal | mitgliederbereich
        | kundenbereich | kundenportal | espace client | espace membre | espace personnel
        | área de clientes | área de cliente | área personal""",
        also=_one_of("field", _PASSWORD + " | code secret | pin | código secreto"),
    ),
    *_each(
        "LOGIN_REQUIRED",
        7,
        "heading",
        "you a link | we sent to | hello again | a link to | lien de connexion | un enlace",
    ),
)

# ---- none of these ------------------------------------------------------------------------------

_NONE = (
    # Who can still sign in has not come to an account yet.
    *_each(
        "UNKNOWN",
        7,
        "button",
        "sign in | log in | login | anmelden | se connecter",
        unless=_says("button", "sign in again | log in again"),
    ),
    *_each("UNKNOWN", 5, "title", "dashboard | reports | analytics | calendar | chat"),
    *_each("UNKNOWN", 7, "title", "hilfe | aide | ayuda | help | support | release notes | status"),
    *_each(
        "UNKNOWN",
        6,
        "heading",
        """comments | comments # | most read | more in | related searches | similar threads
        | past incidents | release notes | kommentare | meistgelesen | das könnte sie auch
        | commentaires | à lire aussi | les plus lus | comentarios | lo más leído | te puede""",
    ),
    *_each("UNKNOWN", 5, "text", "days ago | hours ago | months ago | results for | correspondent"),
    *_each("UNKNOWN", 5, "button", "iniciar sesión | connexion | einloggen"),
    *(StateRule("UNKNOWN", (sign,), 9) for sign in _HISTORY),
    *_each(
        "UNKNOWN",
        10,
        "heading",
        """inbox | notifications | messages | forgot your password | forgot password
        | reset your password | reset password | posteingang | benachrichtigungen
        | passwort zurücksetzen | boîte de réception | réinitialiser | bandeja de entrada
        | notificaciones | restablecer""",
    ),
    *_each(
        "UNKNOWN",
        10,
        "title",
        """how to | how do i | blog | guide | tutorial | tips | faq
        | frequently asked questions | help center | help centre | knowledge base
        | support article | community | forum | reviews | news | search results | results for
        | search | wikipedia | pricing | plans and pricing | terms of service | terms of use
        | privacy policy | cookie policy | documentation | docs | recipe | recipes | compare
        | comparison | best | ratgeber | anleitung | so kündigen sie | hilfe center
        | hilfebereich | suchergebnisse | preise | wie man | comment résilier | comment annuler
        | centre d'aide | résultats de recherche | tarifs | cómo cancelar | cómo darse
        | centro de ayuda | resultados de búsqueda | precios""",
    ),
    *_each(
        "UNKNOWN",
        7,
        "heading",
        """what to do | how to | how do i | how can i | what happens if | what happens when
        | what is | related articles | related posts | related topics | related questions
        | more articles | popular articles | recommended reading | you might also like
        | in this article | table of contents | on this page | search results | results for
        | customer reviews | top stories | latest news | latest posts | plans and pricing
        | simple pricing | pricing | choose your plan | choose a plan | pick your plan
        | select your plan | find the plan | terms of service | terms of use | privacy policy
        | terms and conditions | refund policy | cancellation policy | how can we help
        | how it works | why choose | what our customers say | so kündigen sie | wie kann ich
        | verwandte artikel | häufige fragen | suchergebnisse | comment résilier
        | comment annuler | comment puis je | articles similaires | articles liés
        | cómo cancelar | cómo puedo | artículos relacionados | resultados""",
    ),
    *_each(
        "UNKNOWN",
        9,
        "heading",
        """create your account | create an account | create account | create a free account
        | sign up | sign up for | register | join now | join today | start your free trial
        | get started | konto erstellen | registrieren | créer un compte | créez votre compte
        | inscription | crear cuenta | crea tu cuenta | regístrate""",
    ),
    *_each(
        "UNKNOWN",
        6,
        "title",
        """create account | create an account | create your account | sign up | register
        | registration | registrieren | inscription | créer un compte | crear cuenta
        | regístrate""",
    ),
    *_each(
        "UNKNOWN",
        16,
        "text",
        _TEXT_ARTICLE,
    ),
    *_each(
        "UNKNOWN",
        8,
        "button",
        """add to cart | add to basket | add to bag | add to wishlist | read more
        | read the full article | start free trial | start your free trial
        | start my free trial | get started | get started for free | try for free | try it free
        | sign up free | sign up for free | next page | load more | reply | upvote
        | write a review | shop now | explore plans | see plans | view plans | compare plans
        | in den warenkorb | jetzt testen | kostenlos testen | mehr lesen | weiterlesen
        | ajouter au panier | lire la suite | essai gratuit | essayer gratuitement
        | añadir al carrito | añadir a la cesta | leer más | prueba gratis | pruébalo gratis""",
    ),
    *_each(
        "UNKNOWN",
        5,
        "url",
        """blog | help | article | articles | docs | search | faq | news | wiki | hc | kb
        | posts | forum | community | pricing | product | products | legal | terms | privacy""",
    ),
)

GENERIC: tuple[StateRule, ...] = (
    *_LOGIN,
    *_ACTIVE,
    *_CANCELLED,
    *_ELSEWHERE_BILLED,
    *_RETENTION,
    *_SURVEY,
    *_FINAL,
    *_COMPLETE,
    *_FAILED,
    *_TOGETHER,
    *_NONE,
)
