"""Python's mailbox.Maildir: add() has returned (the mail was accepted); no mail is gone or half there."""
import mailbox
from support import need, promise, promised, run


def write():
    box = mailbox.Maildir("box")
    for i in range(1, 11):
        message = mailbox.MaildirMessage("Subject: %d\n\n%s\n" % (i, "body " * 300))
        promise("%s %d" % (box.add(message), i))


def check():
    box = mailbox.Maildir("box")
    have = {message["subject"]: message.get_payload() for message in box}
    for line in promised():
        number = line.split()[1]
        need(have.get(number, "").strip() == ("body " * 300).strip(), "lost or cut short: mail %s" % number)


run(write, check)
